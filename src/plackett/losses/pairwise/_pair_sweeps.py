"""Sorted sweeps over pairs with one margin: sums over the violated ones, and products with their curvature.

One half of a sweep goes through the documents as the better ones of their pairs, with the worse ones entering as they
come within the margin; the other half is the same on negated scores, with the roles exchanged.
"""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel
from plackett._sort import argsort_descending

__all__ = ["LOWER", "SAME", "TABLE", "curvature_sweep", "sort_sweep", "value_sweep"]

#: Which documents are the worse ones of a document: those of lower grade, all weighing 1 (a Fenwick tree over grades);
#: those of the same grade; those a table gives a weight to.
LOWER, SAME, TABLE = 0, 1, 2


@kernel
def _longest(lo, hi, sizes):  # type: ignore[no-untyped-def]
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, sizes[q])
    return longest


@kernel
def sort_sweep(lo, hi, offsets, judged, order, scores, rows, keys):  # type: ignore[no-untyped-def]
    """Judged rows of each query by descending score, and their scores."""
    longest = _longest(lo, hi, judged)
    place = np.empty(longest, np.int64)
    spare = np.empty(longest, np.float64)
    spare_place = np.empty(longest, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        for i in range(n):
            keys[a + i] = scores[order[a + i]]
        argsort_descending(keys[a : a + n], place, spare, spare_place, n)
        for i in range(n):
            rows[a + i] = order[a + place[i]]


@kernel
def _half(t, grade, weight, carried, n, n_grades, form, margin, table, tree, sums):  # type: ignore[no-untyped-def]
    """For each document the sums of weight and weight × carried over the worse ones that are not behind by the margin.

    ``t`` are scores from high to low. Whether a pair is violated is decided by the rounded difference of the scores,
    which is monotone in each of them, and is the same in both halves.
    """
    for g in range(n_grades + 1):
        tree[g, 0] = 0.0
        tree[g, 1] = 0.0
    entered = 0
    for place in range(n):
        while entered < n and t[place] - t[entered] < margin:
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
            g = grade[place]
            while g > 0:
                zeroth += tree[g, 0]
                first += tree[g, 1]
                g -= g & -g
        elif form == SAME:
            zeroth = tree[grade[place] + 1, 0]
            first = tree[grade[place] + 1, 1]
        else:
            for g in range(n_grades):
                zeroth += table[grade[place], g] * tree[g + 1, 0]
                first += table[grade[place], g] * tree[g + 1, 1]
        sums[place, 0] = zeroth
        sums[place, 1] = first


@kernel
def _lanes(n, n_grades):  # type: ignore[no-untyped-def]
    """Scratch of both halves for lists of n: scores, weights, carried values, grades, sums, tree."""
    return (
        np.empty((2, n), np.float64),
        np.empty((2, n), np.float64),
        np.empty((2, n), np.float64),
        np.empty((2, n), np.int64),
        np.empty((2, n, 2), np.float64),
        np.empty((n_grades + 1, 2), np.float64),
    )


@kernel
def _halves(  # type: ignore[no-untyped-def]
    a, n, rows, keys, grade, n_grades, weight, table, transposed, form, margin, carried, by_row, centre, work
):
    """Both halves for the query whose rows begin at place a; what is carried stands by row, or else by place."""
    t, w, x, g, sums, tree = work
    for i in range(n):
        row = rows[a + i]
        back = n - 1 - i
        t[0, i] = keys[a + i]
        w[0, i] = weight[row]
        x[0, i] = carried[row if by_row else a + i] - centre
        g[0, i] = grade[row]
        t[1, back] = -t[0, i]
        w[1, back] = w[0, i]
        x[1, back] = x[0, i]
        g[1, back] = n_grades - 1 - g[0, i] if form == LOWER else g[0, i]  # the highest grade is the lowest there
    _half(t[0], g[0], w[0], x[0], n, n_grades, form, margin, table, tree, sums[0])
    _half(t[1], g[1], w[1], x[1], n, n_grades, form, margin, transposed, tree, sums[1])


@kernel
def value_sweep(  # type: ignore[no-untyped-def]
    lo, hi, offsets, rows, keys, judged, grade, n_grades, weight, scale, table, transposed,
    form, margin, factor, squared, value, gradient,
):  # fmt: skip
    """Add Σ c·ξ or Σ c·ξ² of each query, and its gradient."""
    work = _lanes(_longest(lo, hi, judged), _longest(lo, hi, n_grades))
    _, w, x, _, sums, _ = work
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        c = scale[q] * factor
        middle = 0.0
        for i in range(n):
            middle += keys[a + i] / n
        _halves(
            a, n, rows, keys, grade, n_grades[q], weight, table, transposed, form, margin, keys, False, middle, work
        )
        total = 0.0
        for i in range(n):
            row = rows[a + i]
            back = n - 1 - i
            ahead = margin - x[0, i]
            behind = margin + x[0, i]
            if squared:
                won = w[0, i] * (ahead * sums[0, i, 0] + sums[0, i, 1])  # Σ c·ξ as the better one
                lost = w[0, i] * (behind * sums[1, back, 0] - sums[1, back, 1])  # and as the worse one
                total += won * ahead + lost * x[0, i]  # Σ c·ξ², as ξ = margin − (t_u − t_v)
                gradient[row] += 2.0 * c * (lost - won)
            else:
                total += w[0, i] * (ahead * sums[0, i, 0] + sums[0, i, 1])
                gradient[row] += c * w[0, i] * (sums[1, back, 0] - sums[0, i, 0])
        value[q] += c * total


@kernel
def curvature_sweep(  # type: ignore[no-untyped-def]
    lo, hi, offsets, rows, keys, judged, grade, n_grades, weight, scale, table, transposed,
    form, margin, factor, direction, out,
):  # fmt: skip
    """Add the product of a direction with the curvature of Σ c·ξ²: 2 Σ c (d_u − d_v) over the violated pairs."""
    work = _lanes(_longest(lo, hi, judged), _longest(lo, hi, n_grades))
    _, w, x, _, sums, _ = work
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        c = 2.0 * scale[q] * factor
        _halves(
            a, n, rows, keys, grade, n_grades[q], weight, table, transposed, form, margin, direction, True, 0.0, work
        )
        for i in range(n):
            back = n - 1 - i
            degree = sums[0, i, 0] + sums[1, back, 0]
            out[rows[a + i]] += c * w[0, i] * (degree * x[0, i] - sums[0, i, 1] - sums[1, back, 1])
