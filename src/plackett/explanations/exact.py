"""Exact contributions of features, for models whose form allows them."""

from __future__ import annotations

from typing import Any

import numpy as np


def _linear(scorer: Any, X: np.ndarray, background: np.ndarray) -> tuple[np.ndarray, float]:
    """Weight times the distance from the mean of the background."""
    weights = scorer.weights[:, 0]
    middle = background.mean(axis=0, dtype=np.float64)
    return (X - middle) * weights, float(middle @ weights + scorer.intercept[0])


def _additive(scorer: Any, X: np.ndarray, background: np.ndarray) -> tuple[np.ndarray, float]:
    """The function of each feature minus its mean over the background."""
    parts = np.zeros(X.shape)
    base = 0.0
    for j in scorer.features.tolist():
        function = scorer.function(j)
        mean = float(_at(function, background[:, j]).mean())
        parts[:, j] = _at(function, X[:, j]) - mean
        base += mean
    return parts, base


def _at(function: Any, x: np.ndarray) -> np.ndarray:
    values = function.values[np.searchsorted(function.edges, x, side="left")]
    return np.where(np.isnan(x), function.missing, values + (function.slope * x if function.slope else 0.0))


def _trees(scorer: Any, X: np.ndarray, background: np.ndarray) -> tuple[np.ndarray, float]:
    """LightGBM's TreeSHAP (Lundberg et al. 2018); the base is the mean over the training documents of each node."""
    contributions = scorer.booster.predict(X, pred_contrib=True)
    return contributions[:, :-1], float(contributions[0, -1])


#: By the kind of scorer: contributions of documents × features, and the base, which together give the scores.
EXACT = {"linear": _linear, "additive": _additive, "trees": _trees}
