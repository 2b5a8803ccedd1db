"""Sorting the points of a line where documents cross: linear time for typical data."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.sort import argsort_descending

#: Buckets of more points than this are sorted in the usual way.
_INSERTED = 32


@kernel(inline=True)
def _bucket(t, unit, n):
    return min(np.int64((0.5 + 0.5 * t / (unit + abs(t))) * n), n - 1)


@kernel
def order_of_points(points, n, unit, sequence, ends):
    """Numbers of ``points[:n]`` in ascending order of the points into ``sequence[:n]``.

    Points go into n buckets by t / (unit + |t|), which spreads them about evenly if ``unit`` is their typical size,
    and buckets are sorted by insertion. ``ends`` is scratch of at least n + 1 numbers. Points must be finite.
    """
    for b in range(n + 1):
        ends[b] = 0
    for i in range(n):
        ends[_bucket(points[i], unit, n) + 1] += 1
    for b in range(n):
        ends[b + 1] += ends[b]
    for i in range(n):  # the start of a bucket moves up to its end
        b = _bucket(points[i], unit, n)
        sequence[ends[b]] = i
        ends[b] += 1
    start = 0
    for b in range(n):
        stop = ends[b]
        if stop - start > _INSERTED:
            part = sequence[start:stop].copy()
            size = stop - start
            keys = np.empty(size, np.float64)
            inside = np.empty(size, np.int64)
            for k in range(size):
                keys[k] = -points[part[k]]
            argsort_descending(keys, inside, np.empty(size, np.float64), np.empty(size, np.int64), size)
            for k in range(size):
                sequence[start + k] = part[inside[k]]
        else:
            for k in range(start + 1, stop):
                event = sequence[k]
                t = points[event]
                p = k
                while p > start and points[sequence[p - 1]] > t:
                    sequence[p] = sequence[p - 1]
                    p -= 1
                sequence[p] = event
        start = stop
