"""Updates that change only a little of what users see."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from plackett._base.errors import DataError

__all__ = ["bounded_update", "rank_change"]


def rank_change(X: Any, old: Any, new: Any, offsets: Any, k: int = 10) -> float:
    """Share of the top k of each query that the new linear model takes out, averaged over queries.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.4]])
    >>> rank_change(X, [1.0, 0.0], [0.0, 1.0], [0, 3], k=1)
    1.0
    """
    X = np.asarray(X, np.float64)
    a, b = X @ np.asarray(old, np.float64), X @ np.asarray(new, np.float64)
    offsets = np.asarray(offsets)
    if offsets.size and (offsets[0] < 0 or offsets[-1] > len(X) or (offsets[1:] < offsets[:-1]).any()):
        raise DataError(f"offsets run from {offsets[0]} to {offsets[-1]}, X has {len(X)} rows")
    changed = []
    for start, stop in itertools.pairwise(offsets):
        size = min(k, stop - start)
        first, second = (np.argsort(-each[start:stop], kind="stable")[:size] for each in (a, b))
        changed.append(np.setdiff1d(second, first).size / max(size, 1))
    return float(np.mean(changed)) if changed else 0.0


def bounded_update(
    old: Any, new: Any, X: Any, offsets: Any, *, most: float = 0.1, k: int = 10, steps: int = 20
) -> np.ndarray:
    """Weights on the way from the old model to the new one, as far as the monitored queries allow.

    Parameters
    ----------
    old, new
        Weights of the model in production and of the one that was learned.
    X, offsets
        Features and offsets of the queries to monitor.
    most
        Largest share of the top k that an update may change (`rank_change`).
    steps
        Points on the way that are tried, from the new model back to the old.

    Returns
    -------
    The new weights if they stay within the bound, else the furthest point tried that does; at worst the old weights.
    """
    old, new = np.asarray(old, np.float64), np.asarray(new, np.float64)
    if old.shape != new.shape:
        raise DataError(f"the models have {old.size} and {new.size} weights")
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        raise DataError("the weights have missing or infinite values: keep the old model, and look for the cause")
    if not 0 <= most <= 1 or steps < 1:
        raise DataError(f"most={most}, steps={steps}: most is between 0 and 1, steps at least 1")
    for step in range(steps, 0, -1):
        between = old + step / steps * (new - old)
        if rank_change(X, old, between, offsets, k) <= most:
            return between
    return old.copy()
