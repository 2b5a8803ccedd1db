"""Features as experts that vote on pairs of documents."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.rankers.pairwise._entries import pair_entries


def expert_losses(data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the pairs that each feature orders wrongly (half where it abstains), by query; and of all pairs."""
    entries = pair_entries(data)
    first = np.searchsorted(entries.query, np.arange(data.n_queries + 1))
    lost, total = np.zeros((data.n_queries, data.n_features)), np.zeros(data.n_queries)
    X = data.dense()
    pairs = (first, entries.first, entries.low, entries.high, entries.order, entries.weight, entries.row_weight)
    over_queries(_losses, data.offsets, X, *pairs, lost, total, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)
    return lost, total


@kernel
def _losses(lo, hi, offsets, X, first, better, low, high, order, weight, row_weight, lost, total):
    d = X.shape[1]
    for q in range(lo, hi):
        for e in range(first[q], first[q + 1]):
            u = better[e]
            for p in range(low[e], high[e]):
                v = order[p]
                w = weight[e] * row_weight[v]
                total[q] += w
                for j in range(d):
                    lost[q, j] += w * (0.5 + (0.5 if X[u, j] < X[v, j] else 0.0) - (0.5 if X[u, j] > X[v, j] else 0.0))
