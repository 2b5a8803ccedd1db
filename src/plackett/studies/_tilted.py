"""Made-up queries whose relevance points in a direction of choice."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.studies.base import of_queries

__all__ = ["tilted_queries"]


def tilted_queries(n_queries: int, n_docs: int, angle: float, random_state: int, noise: float = 0.3) -> RankingDataset:
    """Queries with two normal features; the best fifth along a direction has label 2, the next two fifths label 1.

    The direction is (cos, sin) of ``angle``: two sets of queries with different angles want different models.
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_queries, n_docs, 2))
    worth = X @ np.array([np.cos(angle), np.sin(angle)]) + noise * rng.standard_normal((n_queries, n_docs))
    place = np.argsort(np.argsort(-worth, axis=1), axis=1)
    y = (place < 0.2 * n_docs).astype(int) + (place < 0.6 * n_docs)
    return of_queries(X.reshape(-1, 2), y.ravel(), [n_docs] * n_queries)
