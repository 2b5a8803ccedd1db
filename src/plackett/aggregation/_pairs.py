"""How many lists prefer one document to another."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel
def count_pairs(before, a, n, weights, column, wins):
    """Fill ``wins[i, j]``, n × n: weight of the lists that have the i-th document of rows a … before the j-th.

    ``column`` is scratch of n numbers.
    """
    wins[:, :] = 0.0
    for m in range(weights.size):
        weight = weights[m]
        if weight == 0.0:
            continue
        for i in range(n):
            rank = before[a + i, m]
            column[i] = np.nan if rank < 0 else np.float64(rank)  # NaN comes before nothing
        for i in range(n):
            rank = column[i]
            for j in range(n):
                wins[i, j] += weight if rank < column[j] else 0.0


@kernel
def count_beaten(wins, beaten):
    """Fill ``beaten`` with the number of documents that each beats by majority; a draw counts one half."""
    n = wins.shape[0]
    for i in range(n):
        beaten[i] = 0.0
        for j in range(n):
            if i != j:
                beaten[i] += 1.0 if wins[i, j] > wins[j, i] else (0.5 if wins[i, j] == wins[j, i] else 0.0)
