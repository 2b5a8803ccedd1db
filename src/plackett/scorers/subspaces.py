"""Principal directions of the documents of a query, and how alike those of two queries are."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dense import dense

#: Queries per block of similarities.
_BLOCK = 512


def directions(X: Any, offsets: np.ndarray, n_components: int, scale: np.ndarray) -> np.ndarray:
    """The principal directions of each list, queries × components × features; rows of zeros where there are fewer.

    Documents are divided by ``scale`` and centred per list; missing values count as the mean of the list.
    """
    principal = np.zeros((offsets.size - 1, n_components, X.shape[1]))
    for q in range(offsets.size - 1):
        cloud = np.asarray(dense(X[offsets[q] : offsets[q + 1]]), np.float64) / scale
        if np.isnan(cloud).any():
            known = ~np.isnan(cloud)
            mean = np.where(known, cloud, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            cloud = np.where(known, cloud, mean)
        if cloud.shape[0] < 2:
            continue
        _, values, vectors = np.linalg.svd(cloud - cloud.mean(axis=0), full_matrices=False)
        some = min(n_components, int((values > 1e-9 * max(values[0], 1e-300)).sum())) if values.size else 0
        principal[q, :some] = vectors[:some]
    return principal


def similarities(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Mean absolute inner product of the directions of the same rank, over the ranks that both lists have."""
    total = np.zeros((a.shape[0], b.shape[0]))
    count = np.zeros_like(total)
    for p in range(a.shape[1]):
        has_a, has_b = a[:, p].any(axis=1), b[:, p].any(axis=1)
        count += np.outer(has_a, has_b)
        for start in range(0, a.shape[0], _BLOCK):
            total[start : start + _BLOCK] += np.abs(a[start : start + _BLOCK, p] @ b[:, p].T)
    return np.minimum(np.divide(total, count, out=np.zeros_like(total), where=count > 0), 1.0)
