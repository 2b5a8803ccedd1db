"""Batches of whole queries for stochastic training."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset


def query_batches(data: RankingDataset, size: int, rng: np.random.Generator) -> list[RankingDataset]:
    """Cut a dataset into random batches of ``size`` queries."""
    shuffled = data.select(rng.permutation(data.n_queries))
    starts = range(0, data.n_queries, max(size, 1))
    return [shuffled.select(np.arange(start, min(start + size, data.n_queries))) for start in starts]
