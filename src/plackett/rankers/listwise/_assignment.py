"""Assignment of documents to positions, where the cost is rank times score plus discount times worth.

Without the second term, sorting by score is optimal, and the dual prices that prove it are known. The second term only
increases costs, so the prices stay valid. Each position that loses its document gets another along a shortest path
(Hungarian method).
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel
def _look(row, base, slope, weight, s, worth, price, dist, before):
    """Relax all open documents from one position; return the nearest one."""
    least = np.inf
    for k in range(s.size):
        d = base + slope * s[k] + weight * worth[k] - price[k]
        nearer = d < dist[k]
        before[k] = row if nearer else before[k]
        reached = d if nearer else dist[k]
        dist[k] = reached
        least = reached if reached < least else least
    k = 0
    while dist[k] != least:
        k += 1
    return k


@kernel
def _mend(first, scale, discount, s, worth, rows_price, docs_price, doc, row_of, floats, ints):
    """Assign a document to an empty position, moving others along the shortest path to a free document.

    Open documents come first in the arrays, in any order; finished ones move to the end.
    """
    n = s.size
    open_s, open_worth, open_price, dist = floats[0, :n], floats[1, :n], floats[2, :n], floats[3, :n]
    before, which, via = ints[0, :n], ints[1, :n], ints[2, :n]
    for t in range(n):
        open_s[t] = s[t]
        open_worth[t] = worth[t]
        open_price[t] = docs_price[t]
        dist[t] = np.inf
        before[t] = first
        which[t] = t
    left = n
    row = first
    base = 0.0
    while True:
        here = base - rows_price[row]
        k = _look(
            row,
            here,
            scale * (row + 1),
            discount[row],
            open_s[:left],
            open_worth[:left],
            open_price[:left],
            dist[:left],
            before[:left],
        )
        base = dist[k]
        t = which[k]
        via[t] = before[k]
        left -= 1
        open_s[k], open_s[left] = open_s[left], open_s[k]
        open_worth[k], open_worth[left] = open_worth[left], open_worth[k]
        open_price[k], open_price[left] = open_price[left], open_price[k]
        dist[k], dist[left] = dist[left], dist[k]
        before[k], before[left] = before[left], before[k]
        which[k], which[left] = which[left], which[k]
        row = row_of[t]
        if row < 0:
            break
    rows_price[first] += base
    for k in range(left + 1, n):  # the last one is free, and keeps its price
        docs_price[which[k]] += dist[k] - base
        rows_price[row_of[which[k]]] += base - dist[k]
    while True:
        row = via[t]
        row_of[t] = row
        given = t
        t = doc[row]
        doc[row] = given
        if row == first:
            break


@kernel
def assign(scale, discount, s, worth, doc, floats, ints):
    """Fill ``doc``, the document of each position, with the least sum of scale · rank · s + discount[rank] · worth.

    ``s`` is sorted from large to small, and neither ``discount`` nor ``worth`` is negative. ``floats`` and ``ints`` are
    scratch: six and four rows.
    """
    n = s.size
    rows_price, docs_price, row_of = floats[4, :n], floats[5, :n], ints[3, :n]
    for r in range(n):
        doc[r] = r
        row_of[r] = r
        rows_price[r] = rows_price[r - 1] + scale * 0.5 * (s[r - 1] + s[r]) if r > 0 else 0.0
        docs_price[r] = scale * (r + 1) * s[r] - rows_price[r]
    for r in range(n):
        if worth[r] * discount[r] > 0.0:
            doc[r] = -1
            row_of[r] = -1
    for r in range(n):
        if doc[r] < 0:
            _mend(r, scale, discount, s, worth, rows_price, docs_price, doc, row_of, floats, ints)
