"""Queries drawn for a tree."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset


class QuerySample:
    """Counts each query as often as it was drawn; LightGBM's own bagging by query ignores custom gradients.

    Parameters
    ----------
    data
        The training data.
    share
        Number of draws, as a share of the queries.
    random_state
        Seed.
    replace
        Whether a query may be drawn more than once: a bootstrap.
    """

    def __init__(self, data: RankingDataset, share: float, random_state: int | None, *, replace: bool) -> None:
        self.rng = np.random.default_rng(random_state)
        self.data = data
        self.size = max(1, round(share * data.n_queries))
        self.replace = replace

    def __call__(self, gradient: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature of the queries of a new draw, 0 for the others."""
        if not self.replace and self.size == self.data.n_queries:
            return gradient, curvature
        times = self.draw(gradient.ndim)
        return gradient * times, curvature * times

    def draw(self, ndim: int) -> np.ndarray:
        """How often the query of each row was drawn, in the shape of scores."""
        queries = self.data.n_queries
        drawn = np.bincount(self.rng.choice(queries, self.size, replace=self.replace), minlength=queries)
        return drawn[self.data.query_of_row].reshape((-1,) + (1,) * (ndim - 1))
