"""Synthetic queries with two features that call for different models: by direction, or at the top and bottom."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from studies.base import of_queries


def tilted_queries(n_queries: int, n_docs: int, angle: float, random_state: int, noise: float = 0.3) -> RankingDataset:
    """Queries with two normal features; the best fifth along a direction has label 2, the next two fifths label 1.

    The direction is (cos, sin) of ``angle``: two sets of queries with different angles call for different models.
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_queries, n_docs, 2))
    worth = X @ np.array([np.cos(angle), np.sin(angle)]) + noise * rng.standard_normal((n_queries, n_docs))
    rank = np.argsort(np.argsort(-worth, axis=1), axis=1)
    y = (rank < 0.2 * n_docs).astype(int) + (rank < 0.6 * n_docs)
    return of_queries(X.reshape(-1, 2), y.ravel(), [n_docs] * n_queries)


def bottom_heavy_queries(n_bottom: int, random_state: int) -> RankingDataset:
    """40 queries of ten documents with grades 2 and 1, and any number of grade 0.

    The first feature separates grade 2 from grade 1; the second separates grade 0 from the others.
    """
    rng = np.random.default_rng(random_state)
    y = np.tile([2.0] * 3 + [1.0] * 7 + [0.0] * n_bottom, 40)
    X = 0.7 * rng.standard_normal((y.size, 2))
    X[:, 0] += np.where(y == 2, 1.0, np.where(y == 1, -0.3, 0.3))
    X[:, 1] += np.where(y == 0, -1.5, np.where(y == 1, 0.5, 0.0))
    return of_queries(X, y, [10 + n_bottom] * 40)
