"""A loss on data that are larger than memory: bound to one block of queries after another."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import is_large, query_blocks, row_array
from plackett.losses.base import BoundLoss, Loss


def bind_in_blocks(loss: Loss, data: RankingDataset, n_jobs: int | None) -> BoundLoss:
    """The loss on a dataset; on one that is mapped from a large file, bound anew to each block at each evaluation.

    A loss that counts its evaluations, or uses all queries together, must be bound once to all of the data.
    """
    if loss.counts_rounds or not loss.separable or not is_large(data.X):
        return loss.bind(data, n_jobs=n_jobs)
    return _InBlocks(loss, data, n_jobs)


class _InBlocks(BoundLoss):
    """Gradients are written to disk. The curvature is left out: the solvers for such data do not use it."""

    def __init__(self, loss: Loss, data: RankingDataset, n_jobs: int | None) -> None:
        self.loss, self.data, self.n_jobs = loss, data, n_jobs
        self.blocks = list(query_blocks(data.offsets))
        self.query_weight = np.empty(data.n_queries)  # a loss may divide the weights of queries
        for lo, hi in self.blocks:
            bound = self._bound(lo, hi)
            self.query_weight[lo:hi] = bound.query_weight
        self.n_outputs = bound.n_outputs
        shape = (data.n_rows,) if self.n_outputs == 1 else (data.n_rows, self.n_outputs)
        self.gradient = row_array(data.X, shape)

    def _bound(self, lo: int, hi: int) -> BoundLoss:
        return self.loss.bind(self.data.select(np.arange(lo, hi)), n_jobs=self.n_jobs)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query and gradient per score."""
        losses = np.zeros(self.data.n_queries)
        for lo, hi in self.blocks:
            rows = slice(self.data.offsets[lo], self.data.offsets[hi])
            losses[lo:hi], self.gradient[rows], _ = self._bound(lo, hi).evaluate(scores[rows], value)
        return losses, self.gradient, np.empty(0)
