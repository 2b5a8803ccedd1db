"""Tables of the preferences of whole lists, for methods that read each preference many times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.aggregation.orderings.preference import Preference, pair_blocks

#: Entries of the tables that are held at a time, 64 MB; a single list may need more.
_ENTRIES = 1 << 23


class Tables(NamedTuple):
    """The tables of some lists: list i has the rows ``offsets[i]`` … and its table begins at ``starts[i]``."""

    first_row: int
    offsets: np.ndarray
    starts: np.ndarray
    values: np.ndarray


def preference_tables(preference: Preference, offsets: np.ndarray) -> Iterator[Tables]:
    """h(u, v) of all documents of each list, as many lists at a time as memory allows; ½ on the diagonal."""
    sizes = np.diff(offsets)
    ends = np.cumsum(sizes**2)
    lo = 0
    while lo < sizes.size:
        done = ends[lo - 1] if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, done + _ENTRIES, side="right")))
        base, part = int(offsets[lo]), offsets[lo : hi + 1] - offsets[lo]
        starts = np.concatenate(([0], np.cumsum(sizes[lo:hi] ** 2)))
        values = np.full(starts[-1], 0.5)
        for first, second in pair_blocks(part):
            h = preference(base + first, base + second)
            query = np.searchsorted(part, first, side="right") - 1
            n, i, j = sizes[lo:hi][query], first - part[query], second - part[query]
            values[starts[query] + i * n + j] = h
            values[starts[query] + j * n + i] = 1.0 - h
        yield Tables(base, part, starts, values)
        lo = hi


@kernel
def blocks_of_majority(h, wins):
    """Fill ``wins`` with the number of documents that each beats by majority; a draw counts one half.

    With the documents sorted by wins, the first m beat all others exactly if their wins add up to the largest possible
    sum.
    """
    n = wins.size
    for i in range(n):
        wins[i] = 0.0
        for j in range(n):
            if i != j:
                wins[i] += 1.0 if h[i, j] > 0.5 else (0.5 if h[i, j] == 0.5 else 0.0)
