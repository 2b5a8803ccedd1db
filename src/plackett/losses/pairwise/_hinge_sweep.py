"""Sorted sweeps for the hinge losses: exact sums over all violated pairs in O(n log n).

The support vector machines, which need more than value and gradient, have `_pair_sweeps`.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import lanes, most
from plackett._kernels.sort import argsort_descending


@kernel
def _add(tree, size, grade, weight, t):  # type: ignore[no-untyped-def]
    """Fenwick tree over label grades: add the three sums of a document."""
    i = grade + 1
    while i <= size:
        tree[i, 0] += weight
        tree[i, 1] += weight * t
        tree[i, 2] += weight * t * t
        i += i & -i


@kernel
def _below(tree, grade):  # type: ignore[no-untyped-def]
    """Sums over grades lower than this one."""
    zeroth = first = second = 0.0
    i = grade
    while i > 0:
        zeroth += tree[i, 0]
        first += tree[i, 1]
        second += tree[i, 2]
        i -= i & -i
    return zeroth, first, second


@kernel
def violations(  # type: ignore[no-untyped-def]
    scores, middle, grade, weight, margin, n, n_grades, sorted_scores, order, spare, spare_order, tree, sums
):
    """For each of n documents the sums 1, t, t² over the documents with which it forms a violated pair.

    A pair of unequal grades is violated when the better document is not ahead by the margin. ``grade`` counts from
    0 (the lowest); ``sums[i, 0:3]`` are for pairs in which document i is the better one, with t the score of the
    worse one, ``sums[i, 3:6]`` for pairs in which it is the worse one, with t the score of the better one, both less
    ``middle``; weights are those of the other document. ``tree`` has at least ``n_grades + 1`` rows. Which pairs are
    violated is decided by the rounded difference of the scores themselves, which is monotone in each of them.
    """
    for i in range(n):
        sorted_scores[i] = scores[i]
    argsort_descending(sorted_scores, order, spare, spare_order, n)
    tree[: n_grades + 1] = 0.0
    entered = 0
    for position in range(n):  # better documents from high to low: ever more worse ones come within the margin
        u = order[position]
        while entered < n and sorted_scores[position] - sorted_scores[entered] < margin:
            v = order[entered]
            _add(tree, n_grades, grade[v], weight[v], scores[v] - middle)
            entered += 1
        sums[u, 0], sums[u, 1], sums[u, 2] = _below(tree, grade[u])
    tree[: n_grades + 1] = 0.0
    entered = n - 1
    for position in range(n - 1, -1, -1):  # worse documents from low to high; grades are mirrored for `_below`
        v = order[position]
        while entered >= 0 and sorted_scores[entered] - sorted_scores[position] < margin:
            u = order[entered]
            _add(tree, n_grades, n_grades - 1 - grade[u], weight[u], scores[u] - middle)
            entered -= 1
        sums[v, 3], sums[v, 4], sums[v, 5] = _below(tree, n_grades - 1 - grade[v])


@kernel
def hinge_sweep(lo, hi, offsets, scores, pairs, margin, squared, value, gradient, curvature):  # type: ignore[no-untyped-def]
    """Value, gradient and curvature of Σ max(0, margin − z) or, ``squared``, of Σ max(0, margin − z)²."""
    order, below, judged, _, weight, scale = pairs
    n_max = most(lo, hi, judged)
    lane = lanes(4, n_max)
    s, w, work, spare = lane[0], lane[1], lane[2], lane[3]
    by_score, spare_order, grade = np.empty(n_max, np.int64), np.empty(n_max, np.int64), np.empty(n_max, np.int64)
    tree = np.empty((n_max + 1, 3), np.float64)
    sums = np.empty((n_max, 6), np.float64)
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
            s[i] = scores[order[a + i]]
            w[i] = weight[order[a + i]]
            if i + 1 < n and below[a + i] == i + 1:
                n_grades += 1
            grade[i] = n_grades - 1
        violations(s, middle, grade, w, margin, n, n_grades, work, by_score, spare, spare_order, tree, sums)
        total = 0.0
        for i in range(n):
            row = order[a + i]
            factor = scale[q] * w[i]
            ahead = margin - (s[i] - middle)  # margin - (s_u - s_v) is ahead + s_v for the better document u
            behind = margin + (s[i] - middle)  # and behind - s_u for the worse document v
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
