"""Condorcet fusion: sorting by majority votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation._pairs import count_beaten, count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["Condorcet"]


@dataclass(frozen=True, kw_only=True)
class Condorcet(Aggregation):
    """Condorcet fusion: documents sorted by the majority of the lists.

    For any two neighbours in the result, no (weighted) majority of the lists prefers the lower one. If majorities
    contradict each other (a before b, b before c, c before a), many orders satisfy this. This one first sorts documents
    by the number of others they beat (ties count one half), then inserts them one by one from the top, moving each
    above the documents right before it that it beats. So a document that beats all others comes first, and a group of
    documents that all beat the rest comes before the rest. Scores are n for the first document of a query, then
    n − 1, …; equivalent documents keep their row order.

    Parameters
    ----------
    unranked
        ``"below"``: a list puts the documents that it lacks below its own, and does not vote on two of them;
        ``"unknown"``: it votes only on its own.

    Notes
    -----
    Needs a table of n² numbers while it works on a query of n documents.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]])
    >>> Condorcet().order(lists)
    ['a', 'b', 'c']

    References
    ----------
    Montague, Aslam: Condorcet fusion for improved retrieval. CIKM 2002.
    """

    name: ClassVar[str] = "Condorcet"
    aliases: ClassVar[tuple[str, ...]] = ("CondorcetFuse", "WeightedCondorcet")

    unranked: str = "below"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        before = lists.places(self.unranked).before
        over_queries(
            _by_majority, lists.offsets, before, weights, out, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD
        )
        return out


@kernel
def _by_majority(lo, hi, offsets, before, weights, out):
    n_max = longest(lo, hi, offsets)
    memory = np.empty(n_max * n_max, np.float64)
    beaten, order, spare, spare_order = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        wins = memory[: n * n].reshape(n, n)
        count_pairs(before, a, n, weights, spare, wins)
        count_beaten(wins, beaten)
        argsort_descending(beaten, order, spare, spare_order, n)
        for end in range(1, n):
            document = order[end]
            slot = end
            while slot > 0 and wins[document, order[slot - 1]] > wins[order[slot - 1], document]:
                order[slot] = order[slot - 1]
                slot -= 1
            order[slot] = document
        for i in range(n):
            out[a + order[i]] = n - i
