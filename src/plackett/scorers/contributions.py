"""Contribution of each feature to a score, without other documents to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import n_threads
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense


def contributions(ranker: Any, data: RankingDataset) -> np.ndarray:
    """Documents × (features + 1): the contribution of each feature, with the base score in the last column.

    Rows sum to the scores. Trees: LightGBM's TreeSHAP, whose base is the mean over the training documents. Linear
    models: weight times value, with the intercept as base. Blends: the weighted sum over their members.
    """
    function = _OF_KIND.get(ranker.scorer_.kind)
    parts = None if function is None else function(ranker.scorer_, data, ranker.n_jobs)
    # a ranker may do more with its model (several outputs, products of features, a transformation of the scores)
    if parts is None or not np.allclose(parts.sum(axis=1), ranker.score_rows(data), rtol=1e-5, atol=1e-6):
        raise DataError(
            f"pred_contrib=True: the scores of {type(ranker).__name__} are not a sum over its features; "
            "plackett.explain(ranker, data, qid) estimates contributions for any ranker"
        )
    return parts


def _trees(scorer: Any, data: RankingDataset, n_jobs: int | None) -> np.ndarray | None:
    if scorer.booster.num_model_per_iteration() != 1:
        return None
    if data.n_rows == 0:
        return np.empty((0, data.n_features + 1))
    contributions = scorer.booster.predict(data.X, pred_contrib=True, num_threads=n_threads(n_jobs))
    return np.asarray(dense(contributions), np.float64)


def _linear(scorer: Any, data: RankingDataset, n_jobs: int | None) -> np.ndarray | None:
    if scorer.weights.shape != (data.n_features, 1):
        return None
    X, weights = data.X, scorer.weights[:, 0]
    parts = X * weights if isinstance(X, np.ndarray) else X.multiply(weights).toarray()
    return np.hstack([parts, np.full((data.n_rows, 1), scorer.intercept[0])])


def _blend(scorer: Any, data: RankingDataset, n_jobs: int | None) -> np.ndarray | None:
    total = np.zeros((data.n_rows, data.n_features + 1))
    for ranker, factor in zip(scorer.rankers, scorer.factors, strict=True):
        total += factor * contributions(ranker, data)
    return total


_OF_KIND: dict[str, Callable[[Any, RankingDataset, int | None], np.ndarray | None]] = {
    "trees": _trees,
    "linear": _linear,
    "blend": _blend,
}
