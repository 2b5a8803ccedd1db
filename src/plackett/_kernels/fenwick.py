"""Labels as levels, and sums over levels (a Fenwick tree): what counts pairs of unequal labels in n log n."""

from __future__ import annotations

from plackett._kernels.kernel import kernel


@kernel
def level_of(levels, n, label):
    """Position of a label among the ``n`` distinct ones, which are sorted from large to small."""
    low = 0
    high = n - 1
    while low < high:
        middle = (low + high) >> 1
        if levels[middle] > label:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def distinct(ideal, a, b, levels):
    """Distinct judged labels of a query from large to small into ``levels``; how many there are."""
    n = 0
    for i in range(a, b):
        if ideal[i] < 0:
            break
        if n == 0 or ideal[i] != levels[n - 1]:
            levels[n] = ideal[i]
            n += 1
    return n


@kernel(inline=True)
def tree_add(tree, n, i, weight):
    """Add to entry ``i`` of a Fenwick tree of ``n`` entries (``tree`` has one more)."""
    i += 1
    while i <= n:
        tree[i] += weight
        i += i & -i


@kernel(inline=True)
def tree_sum(tree, i):
    """Sum of the entries before ``i``."""
    total = 0.0
    while i > 0:
        total += tree[i]
        i -= i & -i
    return total
