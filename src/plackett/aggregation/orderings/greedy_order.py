"""Greedy ordering of a preference function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation.orderings._tables import blocks_of_majority, preference_tables
from plackett.aggregation.orderings.base import Ordering
from plackett.aggregation.orderings.preference import Preference

__all__ = ["GreedyOrder"]


@dataclass(frozen=True, kw_only=True)
class GreedyOrder(Ordering):
    r"""Greedy ordering: repeatedly takes the document that is most preferred to the remaining ones,

    .. math:: \arg\max_{v \in V} \sum_{u \in V} h(v, u) - h(u, v).

    Its agreement :math:`\sum_{u \text{ before } v} h(u, v)` is at least half of the largest possible agreement, which
    is NP-hard to find. All pairs of a list are compared once and stored. Scores are n for the first document of a list
    of n, then n − 1, …

    Parameters
    ----------
    components
        First split the documents into blocks such that each block beats all later ones by majority (the strongly
        connected components of the majority graph), and order each block greedily. The best order never crosses the
        borders, so the guarantee still holds and agreement is lost only inside blocks.

    Examples
    --------
    >>> GreedyOrder().order([[0.5, 0.9, 0.2], [0.1, 0.5, 0.4], [0.8, 0.6, 0.5]]).tolist()
    [2, 0, 1]

    References
    ----------
    Cohen, Schapire, Singer: Learning to order things. Journal of Artificial Intelligence Research 1999.
    """

    name: ClassVar[str] = "GreedyOrder"
    aliases: ClassVar[tuple[str, ...]] = ("greedy",)

    components: bool = True

    def _scores(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
        out = np.empty(offsets[-1])
        for table in preference_tables(preference, offsets):
            scores = out[table.first_row : table.first_row + table.offsets[-1]]
            arguments = (table.starts, table.values, self.components, scores)
            over_queries(_greedy, table.offsets, *arguments, rows_per_thread=PAIR_ROWS_PER_THREAD)
        return out


@kernel
def _choose(block, h, potential):
    """Put the documents of a block into greedy order."""
    m = block.size
    for i in range(m):
        potential[i] = 0.0
        for j in range(m):
            potential[i] += h[block[i], block[j]] - 0.5  # half of h(v, u) − h(u, v)
    for position in range(m - 1):
        best = position
        for i in range(position + 1, m):
            if potential[i] > potential[best]:
                best = i
        chosen = block[best]
        kept = potential[best]
        for i in range(best, position, -1):  # the others keep their order, which decides between equal ones
            block[i] = block[i - 1]
            potential[i] = potential[i - 1]
        block[position] = chosen
        potential[position] = kept
        for i in range(position + 1, m):
            potential[i] -= h[block[i], chosen] - 0.5


@kernel
def _greedy(lo, hi, offsets, starts, values, components, out):
    n_max = longest(lo, hi, offsets)
    numbers, order, spare, spare_order = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        h = values[starts[q] : starts[q + 1]].reshape(n, n)
        for i in range(n):
            order[i] = i
        if components:
            blocks_of_majority(h, numbers[:n])
            argsort_descending(numbers, order, spare, spare_order, n)
            start = 0
            total = 0.0
            for end in range(1, n + 1):
                total += numbers[end - 1]
                if total == end * (n - end) + 0.5 * end * (end - 1):
                    _choose(order[start:end], h, spare)
                    start = end
        else:
            _choose(order[:n], h, spare)
        for i in range(n):
            out[a + order[i]] = n - i
