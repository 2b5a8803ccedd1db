"""Local search over orders: move single items to their best position."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel

#: Maximum number of passes over the items. Short lists settle after a few; in long ones the last passes change little.
MOST_PASSES = 100


@kernel
def improve(order, before, passes):
    """Move single items to their best positions until no move reduces the disagreement, or for ``passes`` passes.

    ``before[i, j]`` is the weight with which item i comes before item j. A pass costs n² steps. Returns the number of
    passes made.
    """
    n = order.size
    items = order.copy()
    at = np.arange(n)  # index, in the first order, of the item at each position
    lead = np.empty((n, n), np.float64)  # by how much the row's item is preferred; only rows are read
    for i in range(n):
        for j in range(i):
            lead[i, j] = before[items[i], items[j]] - before[items[j], items[i]]
            lead[j, i] = -lead[i, j]
        lead[i, i] = 0.0
    made = 0
    improved = True
    while improved and made < passes:
        improved = False
        made += 1
        for start in range(n):
            item = at[start]
            row = lead[item]
            best = 1e-9
            to = start
            change = 0.0
            for i in range(start - 1, -1, -1):
                change += row[at[i]]
                if change > best:
                    best = change
                    to = i
            change = 0.0
            for i in range(start + 1, n):
                change -= row[at[i]]
                if change > best:
                    best = change
                    to = i
            if to < start:
                for i in range(start, to, -1):
                    at[i] = at[i - 1]
            else:
                for i in range(start, to):
                    at[i] = at[i + 1]
            at[to] = item
            improved |= to != start
    for i in range(n):
        order[i] = items[at[i]]
    return made
