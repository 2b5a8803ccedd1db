"""Shared helpers of the losses of relevant against irrelevant documents."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss


def judged_weight(bound: BoundLoss) -> np.ndarray:
    """Weight of each document with that of its query; 0 where it is not judged."""
    data = bound.data
    return data.row_weight * (data.labels >= 0)


def signs_and_weights(bound: BoundLoss, rel: float) -> tuple[np.ndarray, np.ndarray]:
    """1 for relevant documents and −1 for others, and the weights."""
    return np.where(bound.data.labels >= rel, 1.0, -1.0), judged_weight(bound)


def sum_by_query(data: RankingDataset, terms: np.ndarray | None) -> np.ndarray:
    """Sum of the terms of each query's documents; zeros if there are none."""
    if terms is None:
        return np.zeros(data.n_queries)
    return np.bincount(data.query_of_row, terms, data.n_queries)
