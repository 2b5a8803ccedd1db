"""Positions of documents in lists, from scores."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory


@kernel
def places(lo, hi, offsets, values, fill, before, upto):
    """How many documents of a list come before each one, and how many up to it including ties.

    With ``fill``, the documents that a list lacks are tied at its end; without it they are -1.
    """
    n_max = longest(lo, hi, offsets)
    keys, order, spare, spare_order = sorting_memory(n_max)
    rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        for m in range(values.shape[1]):
            n = 0
            for row in range(a, b):
                value = values[row, m]
                if np.isnan(value):
                    before[row, m] = -1
                    upto[row, m] = -1
                else:
                    keys[n] = value
                    rows[n] = row
                    n += 1
            argsort_descending(keys, order, spare, spare_order, n)
            start = 0
            while start < n:
                end = start + 1
                while end < n and keys[end] == keys[start]:
                    end += 1
                for i in range(start, end):
                    before[rows[order[i]], m] = start
                    upto[rows[order[i]], m] = end
                start = end
            if fill and n < b - a:
                for row in range(a, b):
                    if before[row, m] < 0:
                        before[row, m] = n
                        upto[row, m] = b - a


@kernel
def best_first(lo, hi, offsets, scores, rows):
    """Rows of each query by descending score; equal scores keep their order."""
    n_max = longest(lo, hi, offsets)
    keys = np.empty(n_max, np.float64)
    spare = np.empty(n_max, np.float64)
    spare_order = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        keys[:n] = scores[a : a + n]
        argsort_descending(keys, rows[a : a + n], spare, spare_order, n)
        for i in range(a, a + n):
            rows[i] += a
