"""Nearest documents of the same list, by scaled Euclidean or cosine similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset

METRICS = ("euclidean", "cosine")


def check_neighbours(ranker: Any) -> None:
    """Reject invalid parameters."""
    if not is_count(ranker.n_neighbors) or ranker.metric not in METRICS:
        raise DataError(
            f"n_neighbors={ranker.n_neighbors!r}, metric={ranker.metric!r}; give a whole number of 0 or more, and one "
            f"of {METRICS}"
        )


def is_count(number: Any) -> bool:
    """Whether this is a whole number of 0 or more."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool) and bool(number >= 0)


def scaled(data: RankingDataset, metric: str) -> np.ndarray:
    """Features in which the dot product of two rows is their cosine, or whose distance is the scaled Euclidean one."""
    X = np.asarray(data.dense(), np.float64)
    if np.isnan(X).any():
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    deviation = X.std(axis=0)
    X = X / np.where(deviation > 1e-12 * np.maximum(np.abs(X).max(axis=0, initial=0.0), 1e-300), deviation, 1.0)
    if metric == "cosine":
        length = np.sqrt((X**2).sum(axis=1, keepdims=True))
        return X / np.where(length > 0, length, 1.0)
    return X / np.sqrt(max(X.shape[1], 1))


def list_neighbours(
    data: RankingDataset, X: np.ndarray, k: int, rows: np.ndarray, others: np.ndarray, metric: str, *, far: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of the given rows, its k nearest rows among the others of the same list (farthest with ``far``).

    Returns the rows, their neighbours and the similarities: exp(−d²) or the cosine. ``rows`` and ``others`` are masks.
    """
    k = min(k, int(data.group.max(initial=0)))
    near = np.full((data.n_rows, k), -1, np.int64)
    value = np.zeros((data.n_rows, k))
    over_queries(
        _nearest,
        data.offsets,
        np.ascontiguousarray(X),
        np.ascontiguousarray(rows),
        np.ascontiguousarray(others),
        metric == "cosine",
        far,
        near,
        value,
        n_jobs=1,
    )
    row, slot = np.nonzero(near >= 0)
    return row, near[row, slot], value[row, slot]


@kernel
def _nearest(lo, hi, offsets, X, rows, others, cosine, far, near, value):
    k = near.shape[1]
    for q in range(lo, hi):
        for u in range(offsets[q], offsets[q + 1]):
            if not rows[u]:
                continue
            n_near = 0
            for v in range(offsets[q], offsets[q + 1]):
                if v == u or not others[v]:
                    continue
                total = 0.0
                if cosine:
                    for j in range(X.shape[1]):
                        total += X[u, j] * X[v, j]
                    similar = total
                else:
                    for j in range(X.shape[1]):
                        total += (X[u, j] - X[v, j]) ** 2
                    similar = np.exp(-total)
                key = -similar if far else similar
                slot = n_near
                while slot > 0 and (-value[u, slot - 1] if far else value[u, slot - 1]) < key:
                    if slot < k:
                        value[u, slot] = value[u, slot - 1]
                        near[u, slot] = near[u, slot - 1]
                    slot -= 1
                if slot < k:
                    value[u, slot] = similar
                    near[u, slot] = v
                    if n_near < k:
                        n_near += 1
