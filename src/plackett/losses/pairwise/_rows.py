"""The double loop over all pairs, one row at a time: what pair losses without a faster form share.

A loss calls `lanes` once, and for each query `gather`, for each document `gaps`, its own formula on the row, `add`, and
at the end `scatter`. A formula is a kernel over arrays, which vectorises; nothing is kept per pair but one row.
"""

from __future__ import annotations

import numpy as np

from plackett._kernel import REASSOC, kernel

__all__ = ["add", "gaps", "gather", "lanes", "scatter"]

#: Rows lie apart by more than a vector step: the compiler would otherwise sum in an order that depends on where they
#: lie.
_APART = 64


@kernel
def lanes(lo, hi, judged):  # type: ignore[no-untyped-def]
    """Scratch for the longest of some queries: score, weight, gradient, curvature; gap, value, slope, bend of a row."""
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, judged[q])
    n = longest + _APART
    return (np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))


@kernel
def gather(q, offsets, scores, order, judged, weight, work):  # type: ignore[no-untyped-def]
    """Scores and weights of a query's judged documents by descending label; gives back how many there are."""
    n = judged[q]
    for i in range(n):
        row = order[offsets[q] + i]
        work[0][i] = scores[row]
        work[1][i] = weight[row]
        work[2][i] = 0.0
        work[3][i] = 0.0
    return n


@kernel
def gaps(work, u, start, stop, margin):  # type: ignore[no-untyped-def]
    """The row of document u with the documents ``start`` to ``stop``: differences less the margin, and room for φ."""
    z = work[4][: stop - start]
    top = work[0][u] - margin
    for v in range(start, stop):
        z[v - start] = top - work[0][v]
    return z, work[5][: stop - start], work[6][: stop - start], work[7][: stop - start]


@kernel(fastmath=REASSOC)
def _add(w, g, h, value, slope, bend, factor):  # type: ignore[no-untyped-def]
    total = 0.0
    total_slope = 0.0
    total_bend = 0.0
    for v in range(w.size):
        d = w[v] * slope[v]
        c = w[v] * bend[v]
        total += w[v] * value[v]
        total_slope += d
        total_bend += c
        g[v] -= factor * d
        h[v] += factor * c
    return total, total_slope, total_bend


@kernel
def add(work, u, start, stop):  # type: ignore[no-untyped-def]
    """Add a row to gradient and curvature; gives back its weighted value."""
    r = slice(start, stop)
    m = stop - start
    factor = work[1][u]
    total, slope, bend = _add(work[1][r], work[2][r], work[3][r], work[5][:m], work[6][:m], work[7][:m], factor)
    work[2][u] += factor * slope
    work[3][u] += factor * bend
    return factor * total


@kernel
def scatter(q, offsets, order, n, scale, work, gradient, curvature):  # type: ignore[no-untyped-def]
    """Write gradient and curvature of a query to its rows."""
    for i in range(n):
        row = order[offsets[q] + i]
        gradient[row] = scale[q] * work[2][i]
        curvature[row] = scale[q] * work[3][i]
