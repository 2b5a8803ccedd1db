"""Sums of reciprocal ranks."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.aggregation.lists import RankLists


def reciprocal_sums(
    lists: RankLists, weights: np.ndarray, k: float, power: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Σ w / (k + rank)^power over the lists that have the document, and their number."""
    total, count = np.empty(lists.n_rows), np.empty(lists.n_rows)
    before, upto = lists.places()
    over_queries(_reciprocal_sums, lists.offsets, before, upto, weights, float(k), power, total, count, n_jobs=n_jobs)
    return total, count


@kernel
def _reciprocal_sums(lo, hi, offsets, before, upto, weights, k, power, total, count):
    for row in range(offsets[lo], offsets[hi]):
        s = 0.0
        n = 0
        for m in range(weights.size):
            if before[row, m] >= 0 and weights[m] > 0.0:
                s += weights[m] / (k + 0.5 * (before[row, m] + 1 + upto[row, m])) ** power
                n += 1
        total[row] = s
        count[row] = n
