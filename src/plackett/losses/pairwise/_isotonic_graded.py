"""Isotonic updates for graded labels, exact, in O(n log n) for a query of n documents."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory

# Documents of one grade are not ordered among themselves, but all of them must be above those of lower grades. So the
# new scores of grade k are the old ones, clipped to an interval between two thresholds b[k-1] ≤ b[k], and the update is
# an isotonic regression over the thresholds alone: neighbours out of order are pooled until none is left. The cost of a
# pool depends on all documents of the grades inside it, on those of the lowest grade that are above its threshold and
# on those of the highest one that are below it; with scores sorted inside each grade, running sums give it by
# bisection. A margin t·(g_k - g_l) between grades becomes a shift of the scores of grade k by -t·g_k, and the
# derivative of the objective for t is piecewise linear.


@kernel
def _above(h, start, stop, bound):
    """End of the scores above a bound; they descend from ``start`` to ``stop``."""
    while start < stop:
        middle = (start + stop) >> 1
        if h[middle] > bound:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def _not_below(h, start, stop, bound):
    """End of the scores at or above a bound."""
    while start < stop:
        middle = (start + stop) >> 1
        if h[middle] >= bound:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def _pooled(h, cw, cs, cg, starts, gain, t, first, last, guess, edges):
    """Best common value of the thresholds ``first`` to ``last``; ``edges`` are the ends of the documents it moves.

    Threshold k lies between grades k and k + 1. ``cw``, ``cs``, ``cg`` are running sums of weights and of weights
    times scores over documents, and of weights times gains over grades.
    """
    b0, b1 = starts[first], starts[first + 1]
    t0, t1 = starts[last + 1], starts[last + 2]
    weight_inside = cw[t0] - cw[b1]
    sum_inside = cs[t0] - cs[b1] - t * (cg[last + 1] - cg[first + 1])
    top_of_bottom = h[b0] - t * gain[first]
    if t0 == b1 and top_of_bottom <= h[t1 - 1] - t * gain[last + 1]:
        edges[0], edges[1] = b0, t1
        return top_of_bottom
    low, high = -np.inf, np.inf
    value = guess
    before_bottom, before_top = -1, -1
    for _ in range(200):
        bottom = _above(h, b0, b1, value + t * gain[first])
        top = _not_below(h, t0, t1, value + t * gain[last + 1])
        weight = weight_inside + (cw[bottom] - cw[b0]) + (cw[t1] - cw[top])
        if weight <= 0.0:  # flat: everything is already on its side
            break
        total = sum_inside + (cs[bottom] - cs[b0]) - t * gain[first] * (cw[bottom] - cw[b0])
        total += (cs[t1] - cs[top]) - t * gain[last + 1] * (cw[t1] - cw[top])
        mean = total / weight
        same = bottom == before_bottom and top == before_top
        before_bottom, before_top = bottom, top
        if same or mean == value:
            value = mean
            break
        if mean > value:
            low = value
        else:
            high = value
        value = mean if low < mean < high else 0.5 * (low + high)
        if not low < value < high:
            break
    edges[0] = _above(h, b0, b1, value + t * gain[first])
    edges[1] = _not_below(h, t0, t1, value + t * gain[last + 1])
    return value


@kernel
def _thresholds(h, cw, cs, cg, starts, gain, n_grades, t, value, first, edges):
    """Pools of thresholds for margins t: their values, first members and edges; how many there are."""
    n = 0
    for k in range(n_grades - 1):
        first[n] = k
        middle = 0.5 * (h[starts[k + 1] - 1] - t * gain[k] + h[starts[k + 1]] - t * gain[k + 1])
        value[n] = _pooled(h, cw, cs, cg, starts, gain, t, k, k, middle, edges[n])
        n += 1
        while n > 1 and value[n - 2] > value[n - 1]:
            n -= 1
            guess = 0.5 * (value[n - 1] + value[n])
            value[n - 1] = _pooled(h, cw, cs, cg, starts, gain, t, first[n - 1], k, guess, edges[n - 1])
    first[n] = n_grades - 1
    return n


@kernel
def _slopes(cw, cs, cg, cgg, cgs, starts, gain, t, pools, value, first, edges):
    """First and second derivative for t of half the squared moves."""
    slope, bend = 0.0, 0.0
    for p in range(pools):
        low, high = first[p], first[p + 1]  # grades between them are inside, these two at the edges
        bottom = cw[edges[p, 0]] - cw[starts[low]]
        top = cw[starts[high + 1]] - cw[edges[p, 1]]
        weight = cw[starts[high]] - cw[starts[low + 1]] + bottom + top
        if weight <= 0.0:
            continue
        g = cg[high] - cg[low + 1] + bottom * gain[low] + top * gain[high]
        gg = cgg[high] - cgg[low + 1] + bottom * gain[low] ** 2 + top * gain[high] ** 2
        gs = cgs[high] - cgs[low + 1] + (cs[edges[p, 0]] - cs[starts[low]]) * gain[low]
        gs += (cs[starts[high + 1]] - cs[edges[p, 1]]) * gain[high]
        slope += value[p] * g - gs + t * gg
        bend += max(gg - g * g / weight, 0.0)
    return slope, bend


@kernel
def graded_updates(lo, hi, offsets, rows, grade_offsets, grade_starts, grade_gain, weight, scores, slack, delta, zeta):
    """Least moves ``delta`` that bring the documents of each query into the order of their grades, with margins.

    Query q has the documents ``rows[offsets[q]:offsets[q + 1]]`` from the lowest grade to the highest and the grades
    ``grade_offsets[q]:grade_offsets[q + 1]``, each with its first document and its gain. ``zeta`` is the share of the
    margins that is given up at the price ``slack``.
    """
    n_max, most = longest(lo, hi, offsets), longest(lo, hi, grade_offsets)
    h, by_score, spare, spare_order = sorting_memory(n_max)
    cw, cs = np.zeros(n_max + 1), np.zeros(n_max + 1)
    cg, cgg, cgs = np.zeros(most + 1), np.zeros(most + 1), np.zeros(most + 1)
    starts, gain = np.empty(most + 1, np.int64), np.empty(most)
    value, first = np.empty(most), np.empty(most + 1, np.int64)
    edges = np.empty((most, 2), np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        n_grades = grade_offsets[q + 1] - grade_offsets[q]
        zeta[q] = 0.0
        if n_grades < 2:
            continue
        middle = 0.0
        for i in range(n):
            middle += scores[rows[a + i]] / n
        lowest = grade_gain[grade_offsets[q]]
        for k in range(n_grades):
            starts[k] = grade_starts[grade_offsets[q] + k] - a
            gain[k] = grade_gain[grade_offsets[q] + k] - lowest
        starts[n_grades] = n
        for k in range(n_grades):
            b, m = starts[k], starts[k + 1] - starts[k]
            for i in range(b, b + m):
                h[i] = scores[rows[a + i]] - middle
            argsort_descending(h[b:], by_score[b:], spare, spare_order, m)
            for i in range(b, b + m):
                by_score[i] += a + b
                w = weight[rows[by_score[i]]]
                cw[i + 1] = cw[i] + w
                cs[i + 1] = cs[i] + w * h[i]
            w, s = cw[b + m] - cw[b], cs[b + m] - cs[b]
            cg[k + 1] = cg[k] + gain[k] * w
            cgg[k + 1] = cgg[k] + gain[k] * gain[k] * w
            cgs[k + 1] = cgs[k] + gain[k] * s
        price = slack * cw[n] if slack < np.inf else 0.0
        t = 0.0
        if slack > 0.0:
            t = 1.0
            pools = _thresholds(h, cw, cs, cg, starts, gain, n_grades, t, value, first, edges)
            slope, bend = _slopes(cw, cs, cg, cgg, cgs, starts, gain, t, pools, value, first, edges)
            if slack < np.inf and slope > 0.0:
                low, high = 0.0, 1.0
                t = min(max(1.0 - slope / (bend + price), 0.0), 1.0)
                for _ in range(100):
                    pools = _thresholds(h, cw, cs, cg, starts, gain, n_grades, t, value, first, edges)
                    slope, bend = _slopes(cw, cs, cg, cgg, cgs, starts, gain, t, pools, value, first, edges)
                    excess = slope - price * (1.0 - t)
                    if abs(excess) <= 1e-15 * (price + slope) or (t == 0.0 and excess > 0.0):
                        break
                    if excess > 0.0:
                        high = t
                    else:
                        low = t
                    proposed = t - excess / (bend + price)
                    if proposed <= 0.0 and low == 0.0:
                        proposed = 0.0
                    elif not low < proposed < high:
                        proposed = 0.5 * (low + high)
                    if proposed == t or high - low <= 1e-16:
                        break
                    t = proposed
        pools = _thresholds(h, cw, cs, cg, starts, gain, n_grades, t, value, first, edges)
        zeta[q] = 1.0 - t
        for p in range(pools):
            low_grade, high_grade = first[p], first[p + 1]
            k = low_grade
            for i in range(starts[low_grade], starts[high_grade + 1]):
                while i >= starts[k + 1]:
                    k += 1
                if (k > low_grade or i < edges[p, 0]) and (k < high_grade or i >= edges[p, 1]):
                    delta[rows[by_score[i]]] = value[p] + t * gain[k] - h[i]
