"""The order that agrees most with a preference function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation.kemeny import solve_block
from plackett.aggregation.orderings._tables import blocks_of_majority, preference_tables
from plackett.aggregation.orderings.base import Ordering
from plackett.aggregation.orderings.preference import Preference
from plackett.permutation_models.moves import MOST_PASSES, improve

__all__ = ["ExactOrder"]


@dataclass(frozen=True, kw_only=True)
class ExactOrder(Ordering):
    r"""The order of greatest agreement :math:`\sum_{u \text{ before } v} h(u, v)`: Kemeny's order of preferences.

    Finding it is NP-hard. The documents are first split into blocks such that each block beats all later ones by
    majority. A block of at most ``exact`` documents is solved exactly, by dynamic programming over its subsets
    (2ⁿ n² steps). A longer one starts in the order of majority wins and moves single documents to their best position
    until no move helps. Scores are n for the first document of a list of n, then n − 1, …

    Parameters
    ----------
    exact
        Longest block to solve exactly, at most 20.

    Examples
    --------
    >>> ExactOrder().order([[0.5, 0.9, 0.2], [0.1, 0.5, 0.4], [0.8, 0.6, 0.5]]).tolist()
    [2, 0, 1]

    References
    ----------
    Cohen, Schapire, Singer: Learning to order things. Journal of Artificial Intelligence Research 1999.
    Kemeny: Mathematics without numbers. Daedalus 1959.
    """

    name: ClassVar[str] = "ExactOrder"
    aliases: ClassVar[tuple[str, ...]] = ("exact",)

    exact: int = 12

    def __post_init__(self) -> None:
        if not 0 <= self.exact <= 20:
            raise DataError(
                f"ExactOrder: exact={self.exact}; give 0 to 20 (each extra document doubles time and memory)"
            )

    def _scores(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
        out = np.empty(offsets[-1])
        for table in preference_tables(preference, offsets):
            scores = out[table.first_row : table.first_row + table.offsets[-1]]
            arguments = (table.starts, table.values, self.exact, scores)
            over_queries(_exact, table.offsets, *arguments, rows_per_thread=PAIR_ROWS_PER_THREAD)
        return out


@kernel
def _exact(lo, hi, offsets, starts, values, exact, out):
    n_max = longest(lo, hi, offsets)
    wins, order, spare, spare_order = sorting_memory(n_max)
    cost = np.empty(1 << min(exact, n_max), np.float64)
    last = np.empty(cost.size, np.int8)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        h = values[starts[q] : starts[q + 1]].reshape(n, n)
        blocks_of_majority(h, wins[:n])
        argsort_descending(wins, order, spare, spare_order, n)
        start = 0
        total = 0.0
        for end in range(1, n + 1):
            total += wins[end - 1]
            if total == end * (n - end) + 0.5 * end * (end - 1):
                block = order[start:end]
                if end - start > exact:
                    improve(block, h, MOST_PASSES)
                elif end - start > 1:
                    solve_block(block, h, cost, last)
                start = end
        for i in range(n):
            out[a + order[i]] = n - i
