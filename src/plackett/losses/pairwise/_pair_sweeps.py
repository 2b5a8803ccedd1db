"""Sorted sweeps over pairs with one margin: for each document, sums over the pairs that are violated.

The first half of a sweep visits the documents as the better ones of their pairs, and the worse ones enter as they come
within the margin. The second half is the same on negated scores, with the roles exchanged.

`_hinge_sweep` has the same sweep for the hinge losses: value, gradient and diagonal curvature of each query in one
pass, for pairs of labels and one margin. Here the sums over pairs are returned instead, for any numbers that the
documents carry. This allows products with the whole curvature, tables of weights, and ties.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import most
from plackett._kernels.sort import argsort_descending

#: Which documents are the worse ones of a document: those of lower grade, all weighing 1 (a Fenwick tree over grades);
#: those of the same grade; those a table gives a weight to.
LOWER, SAME, TABLE = 0, 1, 2


@kernel
def sort_sweep(lo, hi, offsets, judged, order, scores, rows, keys):
    """Judged rows of each query by descending score, then the others; and their scores, 0 for the others."""
    n_max = most(lo, hi, judged)
    position = np.empty(n_max, np.int64)
    spare = np.empty(n_max, np.float64)
    spare_place = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        for i in range(n):
            keys[a + i] = scores[order[a + i]]
        argsort_descending(keys[a : a + n], position, spare, spare_place, n)
        for i in range(n):
            rows[a + i] = order[a + position[i]]
        for i in range(a + n, offsets[q + 1]):
            rows[i] = order[i]
            keys[i] = 0.0


@kernel
def _half(t, grade, weight, carried, n, n_grades, form, margin, table, tree, sums):
    """For each document the sums of weight and weight × carried over the worse ones that are not behind by the margin.

    ``t`` are scores from high to low. Whether a pair is violated is decided by the rounded difference of the scores,
    which is monotone in each of them, and is the same in both halves.
    """
    for g in range(n_grades + 1):
        tree[g, 0] = 0.0
        tree[g, 1] = 0.0
    entered = 0
    for i in range(n):
        while entered < n and t[i] - t[entered] < margin:
            w = weight[entered]
            x = w * carried[entered]
            g = grade[entered] + 1
            if form == LOWER:
                while g <= n_grades:
                    tree[g, 0] += w
                    tree[g, 1] += x
                    g += g & -g
            else:
                tree[g, 0] += w
                tree[g, 1] += x
            entered += 1
        zeroth = 0.0
        first = 0.0
        if form == LOWER:
            g = grade[i]
            while g > 0:
                zeroth += tree[g, 0]
                first += tree[g, 1]
                g -= g & -g
        elif form == SAME:
            zeroth = tree[grade[i] + 1, 0]
            first = tree[grade[i] + 1, 1]
        else:
            for g in range(n_grades):
                zeroth += table[grade[i], g] * tree[g + 1, 0]
                first += table[grade[i], g] * tree[g + 1, 1]
        sums[i, 0] = zeroth
        sums[i, 1] = first


@kernel
def pair_sums(lo, hi, offsets, rows, keys, judged, grade, n_grades, weight, tables, form, margin, carried, sums):
    """For the document at each position, sums over the violated pairs it is in.

    ``sums[0]`` and ``sums[1]`` are over the pairs in which it is the better one: the weights of the others, and those
    times what the others carry; ``sums[2]`` and ``sums[3]`` over the pairs in which it is the worse one. ``rows``
    and ``keys`` are those of `sort_sweep`; ``carried`` is in the order of positions; the second table is the first one
    transposed.
    """
    n_max = most(lo, hi, judged)
    t = np.empty(n_max, np.float64)
    w = np.empty(n_max, np.float64)
    x = np.empty(n_max, np.float64)
    g = np.empty(n_max, np.int64)
    half_sums = np.empty((n_max, 2), np.float64)
    tree = np.empty((most(lo, hi, n_grades) + 1, 2), np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        for half in range(2):
            for i in range(n):
                position = a + i if half == 0 else a + n - 1 - i
                row = rows[position]
                t[i] = keys[position] if half == 0 else -keys[position]
                w[i] = weight[row]
                x[i] = carried[position]
                g[i] = grade[row]
                if half == 1 and form == LOWER:
                    g[i] = n_grades[q] - 1 - g[i]  # the highest grade is the lowest there
            _half(t, g, w, x, n, n_grades[q], form, margin, tables[half], tree, half_sums)
            for i in range(n):
                position = a + i if half == 0 else a + n - 1 - i
                sums[2 * half, position] = half_sums[i, 0]
                sums[2 * half + 1, position] = half_sums[i, 1]
