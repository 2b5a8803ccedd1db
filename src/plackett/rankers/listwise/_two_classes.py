"""A list as two lists in the order of their scores: the relevant documents and the others."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett._kernels.sort import argsort_descending


@kernel
def two_classes(scores, relevant, keys, spare, order, spare_order, high, high_rows, low, low_rows):
    """Fill in the scores and rows of both classes in descending order; return the number of relevant documents."""
    n = scores.size
    for i in range(n):
        keys[i] = scores[i]
    argsort_descending(keys, order, spare, spare_order, n)
    m1 = 0
    m0 = 0
    for r in range(n):
        i = order[r]
        if relevant[i]:
            high[m1] = scores[i]
            high_rows[m1] = i
            m1 += 1
        else:
            low[m0] = scores[i]
            low_rows[m0] = i
            m0 += 1
    return m1


@kernel
def share_among_ties(scores, rows, n, slope):
    """Give documents of the same class and score the mean of their slopes.

    Swapping such documents does not change how much a ranking is violated. So the mean is also a subgradient, and it
    does not depend on row order. ``scores`` are sorted.
    """
    start = 0
    while start < n:
        end = start
        total = 0.0
        while end < n and scores[end] == scores[start]:
            total += slope[rows[end]]
            end += 1
        if end > start + 1:
            for i in range(start, end):
                slope[rows[i]] = total / (end - start)
        start = end
