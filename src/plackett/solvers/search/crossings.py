"""Where documents cross when scores move along a line, and how a measure changes there.

Along scores + t · slope the order of a list changes only where two documents have equal scores. The sweep starts with
the order at t = −∞ and exchanges neighbours, one crossing after the other, so that each costs constant time.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.mapped import copy_rows, query_blocks, row_array
from plackett.data.parts import values_at
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.search.forms import NeighbourForm
from plackett.solvers.search.point_sort import order_of_points

#: Rounding separates the crossings of three or more documents at one point; within this they count as one.
_TOGETHER = 1e-9
#: Limits that keep points, and the sizes they are compared with, within the range of floats.
_FARTHEST, _LEAST_UNIT = 1e300, 1e-300


def n_pairs(offsets: np.ndarray) -> int:
    """Number of pairs of documents, which is the maximum number of crossings."""
    sizes = np.diff(offsets)
    return int((sizes * (sizes - 1) // 2).sum())


class Crossings:
    """Finds where documents cross along lines. What it keeps for each pair is on the disk if the features are.

    Parameters
    ----------
    lists, form
        The lists and the form of their measure.
    """

    def __init__(self, lists: MeasureObjective, form: NeighbourForm) -> None:
        self.lists, self.form = lists, form
        data = lists.lists
        self.pairs = np.concatenate(([0], np.cumsum(data.group * (data.group - 1) // 2)))
        self.gain = row_array(lists.X, (data.n_rows,))
        for lo, hi in query_blocks(data.offsets):
            rows, query = slice(data.offsets[lo], data.offsets[hi]), np.repeat(np.arange(lo, hi), data.group[lo:hi])
            self.gain[rows] = form.gain[rows] * (lists.sign * lists.weight)[query]
        self.points, self.changes = (row_array(lists.X, (n_pairs(data.offsets),)) for _ in range(2))
        self.order, self.ends = (row_array(lists.X, (n_pairs(data.offsets) + 1,), np.int64) for _ in range(2))

    def __call__(self, scores: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points t at which the mean of the measure changes, in ascending order, and by how much it changes there.

        Documents with equal scores on the whole line are ordered with the lower gain first. The next call overwrites
        the result.
        """
        lists, form = self.lists, self.form
        over_queries(
            _sweep,
            lists.lists.offsets,
            values_at(scores, lists.rows, lists.X),
            values_at(slope, lists.rows, lists.X),
            self.gain,
            form.factor,
            form.addend,
            form.worth,
            self.pairs,
            self.points,
            self.changes,
            n_jobs=lists.n_jobs,
            rows_per_thread=2_000,
        )
        n = _to_front(self.points, self.changes)
        points, changes, order, ends = self.points[:n], self.changes[:n], self.order[:n], self.ends[: n + 1]
        spare = ends.view(np.float64)[:n]
        unit = float(np.median(np.abs(points, out=spare), overwrite_input=True)) if n else 1.0
        order_of_points(points, n, max(unit, _LEAST_UNIT), order, ends)
        return copy_rows(points, order, spare), copy_rows(changes, order, points)


@kernel
def _to_front(points, changes):
    """Move the finite points, and what changes there, to the front; returns their number."""
    n = 0
    for i in range(points.size):
        if points[i] < np.inf:
            points[n] = points[i]
            changes[n] = changes[i]
            n += 1
    return n


@kernel(inline=True)
def _crossing(scores, slope, i, j):
    return min(max((scores[j] - scores[i]) / (slope[i] - slope[j]), -_FARTHEST), _FARTHEST)


@kernel
def _before(scores, slope, gain, i, j):
    """Whether i is above j at t = −∞."""
    if slope[i] != slope[j]:
        return slope[i] < slope[j]
    if scores[i] != scores[j]:
        return scores[i] > scores[j]
    return gain[i] < gain[j]


@kernel
def _first_order(scores, slope, gain, a, n, keys, rows, spare_keys, spare_rows, order):
    """Rows of a query in their order at t = −∞; blocks of equal slope are short, so they are sorted by insertion."""
    for i in range(n):
        keys[i] = -slope[a + i]
    argsort_descending(keys, rows, spare_keys, spare_rows, n)
    for i in range(n):
        row = a + rows[i]
        p = i
        while p > 0 and _before(scores, slope, gain, row, order[p - 1]):
            order[p] = order[p - 1]
            p -= 1
        order[p] = row


@kernel
def _exchange(p, order, position, context, gain, factor, addend, worth):
    """Exchange the documents at positions p and p + 1; returns the change of the measure."""
    i = order[p]
    j = order[p + 1]
    order[p] = j
    order[p + 1] = i
    position[j] = p
    position[i] = p + 1
    change = (gain[j] - gain[i]) * (worth[p] - worth[p + 1]) * context[p]
    context[p + 1] = context[p] * factor[j] + addend[j]
    return change


@kernel
def _sweep(lo, hi, offsets, scores, slope, gain, factor, addend, worth, pairs, change_points, changes):
    n_max = longest(lo, hi, offsets)
    most_pairs = longest(lo, hi, pairs)
    order = np.empty(n_max, np.int64)
    position = np.empty(n_max, np.int64)
    context = np.empty(n_max, np.float64)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    points = np.empty(most_pairs, np.float64)
    sequence = np.empty(most_pairs, np.int64)
    ends = np.empty(most_pairs + 1, np.int64)
    upper = np.empty(most_pairs, np.int64)
    lower = np.empty(most_pairs, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        alike = True
        for i in range(a + 1, a + n):
            alike &= gain[i] == gain[a]
        if alike:
            change_points[pairs[q] : pairs[q + 1]] = np.inf
            continue  # no order is better than another
        _first_order(scores, slope, gain, a, n, keys, rows, spare_keys, spare_rows, order)
        for p in range(n):
            order[p] -= a
            position[order[p]] = p
        s = scores[a : a + n]
        d = slope[a : a + n]
        g = gain[a : a + n]
        f = factor[a : a + n]
        e = addend[a : a + n]
        w = worth[a : a + n]
        context[0] = 1.0
        for p in range(n - 1):
            context[p + 1] = context[p] * f[order[p]] + e[order[p]]
        count = 0
        for p in range(n):
            i = order[p]
            for r in range(p + 1, n):
                j = order[r]
                if d[j] > d[i]:
                    points[count] = _crossing(s, d, i, j)
                    upper[count] = i
                    lower[count] = j
                    count += 1
        width = s.max() - s.min()
        height = d.max() - d.min()
        unit = width / height if height > 0.0 else 1.0
        order_of_points(points, count, min(max(unit, _LEAST_UNIT), _FARTHEST), sequence, ends)
        out = pairs[q]
        for k in range(count):
            event = sequence[k]
            t = points[event]
            first = position[upper[event]]
            last = position[lower[event]]
            if first > last:
                continue  # exchanged together with others
            change = 0.0
            if last == first + 1:
                change = _exchange(first, order, position, context, g, f, e, w)
            else:  # several documents meet at one point: their order is reversed
                limit = t + _TOGETHER * abs(t)
                for p in range(first + 1, last + 1):
                    r = p
                    while r > first:
                        i = order[r - 1]
                        j = order[r]
                        if not (d[j] > d[i] and _crossing(s, d, i, j) <= limit):
                            break
                        change += _exchange(r - 1, order, position, context, g, f, e, w)
                        r -= 1
            if change != 0.0:
                change_points[out] = t
                changes[out] = change
                out += 1
        change_points[out : pairs[q + 1]] = np.inf
