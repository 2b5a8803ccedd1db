"""The assignment of `_assignment` for few distinct worths: the cheapest merge of that many sorted lists.

Documents of equal worth stay in the order of their scores, so the number of each worth above a position determines
which ones they are. The cheapest way to reach such a state follows from the states with one document fewer.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel
def _offer(cost, came, source, discount, rank, slope, worth, grade):
    """Reach a row of states from another row by adding one document, if that is cheaper."""
    for c in range(cost.size):
        way = source[c] + slope * (rank + c) + discount[c] * worth
        cheaper = way < cost[c]
        cost[c] = way if cheaper else cost[c]
        came[c] = grade if cheaper else came[c]


@kernel
def _walk(cost, came, discount, rank, scale, s, worth, grade):
    """Reach each state of a row from the one before it, if that is cheaper."""
    here = cost[0]
    for c in range(1, cost.size):
        way = here + scale * (rank + c) * s[c - 1] + discount[rank + c - 1] * worth
        here = cost[c]
        if way < here:
            here = way
            cost[c] = way
            came[c] = grade


@kernel
def merge(scale, discount, s, worth, grade, doc, cost, came, inner_s, ints):
    """Fill ``doc``, the document of each position, with the least sum of scale · rank · s + discount[rank] · worth.

    ``s`` is sorted from large to small; documents of equal ``worth`` have the same ``grade``, a number from 0 on.
    ``cost`` and ``came`` have room for all states, one more than documents of a grade multiplied over the grades;
    ``inner_s`` and the four rows of ``ints`` for all documents.
    """
    n = s.size
    members, start, stride, count = ints[0], ints[1], ints[2], ints[3]
    grades = 0
    for t in range(n):
        grades = max(grades, grade[t] + 1)
    filled = 0
    for g in range(grades):
        start[g] = filled
        count[g] = 0
        for t in range(n):
            if grade[t] == g:
                members[filled] = t
                filled += 1
    inner = grades - 1  # the last grade, the worst and most frequent one, makes the rows
    size = n - start[inner] + 1
    for c in range(size - 1):
        inner_s[c] = s[members[start[inner] + c]]
    inner_worth = worth[members[start[inner]]]
    stride[inner] = 1
    step = size
    for g in range(inner - 1, -1, -1):
        stride[g] = step
        step *= start[g + 1] - start[g] + 1
    base = 0
    above = 0
    while True:
        row, choice = cost[base : base + size], came[base : base + size]
        row[:] = np.inf
        if above == 0:
            row[0] = 0.0
        for g in range(inner):
            if count[g] > 0:
                t = members[start[g] + count[g] - 1]
                source = cost[base - stride[g] : base - stride[g] + size]
                _offer(row, choice, source, discount[above - 1 : above - 1 + size], above, scale * s[t], worth[t], g)
        _walk(row, choice, discount, above, scale, inner_s, inner_worth, inner)
        g = inner - 1  # the next combination of the other grades
        while g >= 0 and count[g] == start[g + 1] - start[g]:
            base -= count[g] * stride[g]
            above -= count[g]
            count[g] = 0
            g -= 1
        if g < 0:
            break
        count[g] += 1
        base += stride[g]
        above += 1
    state = 0  # back from the state that has all documents
    for g in range(grades):
        count[g] = (n if g + 1 == grades else start[g + 1]) - start[g]
        state += count[g] * stride[g]
    for r in range(n - 1, -1, -1):
        g = came[state]
        count[g] -= 1
        doc[r] = members[start[g] + count[g]]
        state -= stride[g]
