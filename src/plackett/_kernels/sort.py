"""Sorting inside queries: stable, without allocation, fast for the short lists that ranking is made of."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest

_COUNTED = 256  # up to this length comparing all pairs in vector registers beats sorting
_RUN = 8  # longer lists are merged from runs of this length, made by insertion


@kernel(inline=True)
def sorting_memory(n):
    """Keys, rows and their spares for `argsort_descending` of up to n."""
    return np.empty(n, np.float64), np.empty(n, np.int64), np.empty(n, np.float64), np.empty(n, np.int64)


@kernel
def argsort_descending(keys, rows, spare_keys, spare_rows, n):
    """Order of ``keys[:n]`` from large to small into ``rows[:n]``; equal keys stay in order, ``keys`` are sorted too.

    The spares are scratch of at least the same length.
    """
    if n <= _COUNTED:
        _by_counting(keys, rows, spare_keys, spare_rows, n)
    else:
        _by_merging(keys, rows, spare_keys, spare_rows, n)


@kernel
def _by_counting(keys, rows, copy, rank, n):
    for i in range(n):
        key = keys[i]
        larger = 0
        for j in range(n):
            larger += 1 if keys[j] > key else 0
        rank[i] = larger
        rows[i] = 0
        copy[i] = key
    for i in range(n):  # rows counts, for a moment, how many of the same rank came before
        first = rank[i]
        rank[i] += rows[first]
        rows[first] += 1
    for i in range(n):
        rows[rank[i]] = i
        keys[rank[i]] = copy[i]


@kernel
def _by_merging(keys, rows, spare_keys, spare_rows, n):
    for i in range(n):
        rows[i] = i
    for start in range(0, n, _RUN):
        for i in range(start + 1, min(start + _RUN, n)):
            key = keys[i]
            row = rows[i]
            j = i - 1
            while j >= start and keys[j] < key:
                keys[j + 1] = keys[j]
                rows[j + 1] = rows[j]
                j -= 1
            keys[j + 1] = key
            rows[j + 1] = row
    width = _RUN
    while width < n:
        for left in range(0, n, 2 * width):
            middle = min(left + width, n)
            right = min(left + 2 * width, n)
            if middle >= right or keys[middle - 1] >= keys[middle]:
                continue  # the two runs are in order already
            for i in range(left, middle):
                spare_keys[i] = keys[i]
                spare_rows[i] = rows[i]
            i = left
            j = middle
            out = left
            while i < middle:  # what is left of the right run then stands where it belongs
                if j < right and keys[j] > spare_keys[i]:
                    keys[out] = keys[j]
                    rows[out] = rows[j]
                    j += 1
                else:
                    keys[out] = spare_keys[i]
                    rows[out] = spare_rows[i]
                    i += 1
                out += 1
        width *= 2


@kernel
def sort_descending(lo, hi, offsets, values, out):
    """Values of each query from large to small."""
    n_max = longest(lo, hi, offsets)
    counts = np.empty(64, np.int64)
    spare = np.empty(n_max, np.float64)
    rows = np.empty(n_max, np.int64)
    spare_rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        grades = True  # whole numbers in -2..61 are sorted by counting them
        for i in range(a, b):
            v = values[i]
            grades &= v >= -2.0 and v < 62.0 and v == np.floor(v)
        if grades:
            counts[:] = 0
            for i in range(a, b):
                counts[np.int64(values[i]) + 2] += 1
            i = a
            for grade in range(63, -1, -1):
                for _ in range(counts[grade]):
                    out[i] = grade - 2
                    i += 1
        else:
            for i in range(a, b):
                out[i] = values[i]
            argsort_descending(out[a:b], rows, spare, spare_rows, b - a)


@kernel
def order_of_groups(group, offsets):
    """Entries in the order of their group numbers, stable; group g has the positions offsets[g]:offsets[g + 1]."""
    next_free = offsets[:-1].copy()
    rows = np.empty(group.size, np.int64)
    for i in range(group.size):
        rows[next_free[group[i]]] = i
        next_free[group[i]] += 1
    return rows
