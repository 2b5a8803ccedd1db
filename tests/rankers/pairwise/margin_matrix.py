"""Pairs and weak rankers of which RankBoost does not find the largest margin."""

from __future__ import annotations

import numpy as np

from plackett import RankingDataset

#: Rows are pairs, columns weak rankers, entries h(u) − h(v). The largest margin is 3/8.
MATRIX = np.array(
    [
        [-1, 1, 1, 1, 1, -1, -1, 1],
        [-1, 1, 1, -1, -1, 1, 1, 1],
        [1, -1, 1, 1, 1, -1, 1, 1],
        [1, -1, 1, 1, -1, 1, 1, 1],
        [1, -1, 1, -1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1, -1, 1, -1],
    ]
)


def pairs_of(matrix):
    """A dataset in which each row is a query of two documents, and each column a feature of 0 and 1."""
    m, d = matrix.shape
    X = np.empty((2 * m, d))
    X[::2], X[1::2] = matrix > 0, matrix < 0
    return RankingDataset.from_arrays(X, np.tile([1.0, 0.0], m), np.repeat(np.arange(m), 2))
