"""Sorted sweeps for the hinge losses: exact sums over all violated pairs in O(n log n)."""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel
from plackett._sort import argsort_descending

__all__ = ["violations"]


@kernel
def _add(tree, grade, amount):  # type: ignore[no-untyped-def]
    """Fenwick tree over label grades: add the three sums of a document."""
    i = grade + 1
    while i < tree.shape[0]:
        tree[i, 0] += amount[0]
        tree[i, 1] += amount[1]
        tree[i, 2] += amount[2]
        i += i & -i


@kernel
def _below(tree, grade, out):  # type: ignore[no-untyped-def]
    """Sums over grades lower than this one."""
    out[:] = 0.0
    i = grade
    while i > 0:
        out[0] += tree[i, 0]
        out[1] += tree[i, 1]
        out[2] += tree[i, 2]
        i -= i & -i


@kernel
def violations(scores, grade, weight, margin, n, n_grades, work, order, spare, spare_order, tree, sums):  # type: ignore[no-untyped-def]
    """For each of n documents the sums 1, t, t² over the documents with which it forms a violated pair.

    A pair of unequal grades is violated when the better document is not ahead by the margin. ``grade`` counts from
    0 (the lowest); ``sums[i, 0:3]`` are for pairs in which document i is the better one, with t the score of the
    worse one, ``sums[i, 3:6]`` for pairs in which it is the worse one, with t the score of the better one; weights
    are those of the other document. ``tree`` has at least ``n_grades + 1`` rows.
    """
    amount = np.empty(3)
    result = np.empty(3)
    for i in range(n):
        work[i] = scores[i]
    argsort_descending(work, order, spare, spare_order, n)
    tree[: n_grades + 1] = 0.0
    entered = 0
    for place in range(n):  # better documents from high to low: ever more worse ones come within the margin
        u = order[place]
        while entered < n and scores[order[entered]] > scores[u] - margin:
            v = order[entered]
            amount[0] = weight[v]
            amount[1] = weight[v] * scores[v]
            amount[2] = amount[1] * scores[v]
            _add(tree[: n_grades + 1], grade[v], amount)
            entered += 1
        _below(tree, grade[u], result)
        sums[u, 0] = result[0]
        sums[u, 1] = result[1]
        sums[u, 2] = result[2]
    tree[: n_grades + 1] = 0.0
    entered = n - 1
    for place in range(n - 1, -1, -1):  # worse documents from low to high; grades are mirrored for `_below`
        v = order[place]
        while entered >= 0 and scores[order[entered]] - margin < scores[v]:
            u = order[entered]
            amount[0] = weight[u]
            amount[1] = weight[u] * scores[u]
            amount[2] = amount[1] * scores[u]
            _add(tree[: n_grades + 1], n_grades - 1 - grade[u], amount)
            entered -= 1
        _below(tree, n_grades - 1 - grade[v], result)
        sums[v, 3] = result[0]
        sums[v, 4] = result[1]
        sums[v, 5] = result[2]


@kernel
def hinge_sweep(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, margin, order, below, judged, weight, scale, squared, value, gradient, curvature
):
    """Value, gradient and curvature of Σ max(0, margin − z) or, ``squared``, of Σ max(0, margin − z)²."""
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, judged[q])
    s = np.empty(longest, np.float64)
    w = np.empty(longest, np.float64)
    work = np.empty(longest, np.float64)
    spare = np.empty(longest, np.float64)
    places = np.empty(longest, np.int64)
    spare_places = np.empty(longest, np.int64)
    grade = np.empty(longest, np.int64)
    tree = np.empty((longest + 1, 3), np.float64)
    sums = np.empty((longest, 6), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        middle = 0.0
        for i in range(n):
            middle += scores[order[a + i]] / n
        n_grades = 1
        for i in range(n - 1, -1, -1):
            s[i] = scores[order[a + i]] - middle
            w[i] = weight[order[a + i]]
            if i + 1 < n and below[a + i] == i + 1:
                n_grades += 1
            grade[i] = n_grades - 1
        violations(s, grade, w, margin, n, n_grades, work, places, spare, spare_places, tree, sums)
        total = 0.0
        for i in range(n):
            row = order[a + i]
            factor = scale[q] * w[i]
            ahead = margin - s[i]  # margin - (s_u - s_v) is ahead + s_v for the better document u
            behind = margin + s[i]  # and behind - s_u for the worse document v
            if squared:
                total += factor * (ahead * ahead * sums[i, 0] + 2.0 * ahead * sums[i, 1] + sums[i, 2])
                gradient[row] -= 2.0 * factor * (ahead * sums[i, 0] + sums[i, 1])
                gradient[row] += 2.0 * factor * (behind * sums[i, 3] - sums[i, 4])
                curvature[row] += 2.0 * factor * (sums[i, 0] + sums[i, 3])
            else:
                total += factor * (ahead * sums[i, 0] + sums[i, 1])
                gradient[row] += factor * (sums[i, 3] - sums[i, 0])
                curvature[row] += factor * (sums[i, 0] + sums[i, 3])
        value[q] = total
