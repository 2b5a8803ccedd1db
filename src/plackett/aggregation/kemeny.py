"""Kemeny's order: the one that disagrees least with the lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation._pairs import count_beaten, count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists
from plackett.permutation_models.moves import MOST_PASSES, improve

__all__ = ["Kemeny"]


@dataclass(frozen=True, kw_only=True)
class Kemeny(Aggregation):
    r"""Kemeny's order: minimises the weighted number of pairs that the lists put in opposite order.

    .. math:: \min_\pi \sum_m w_m \, \#\{(u, v) : u \prec_\pi v,\; v \prec_m u\}

    Finding it is NP-hard for four lists or more. The documents are first split into blocks such that each block beats
    all later ones by majority; the best order never crosses these borders, so a Condorcet winner comes first. A block
    of at most ``exact`` documents is solved exactly, by dynamic programming over its subsets (2ⁿ n² steps). A longer
    one starts in the order of its majority wins (sorting by degree) and moves single documents to their best position
    until no move helps, in at most 100 passes of n² steps. Scores are n for the first document of a query, then n − 1,
    …

    Parameters
    ----------
    exact
        Longest block to solve exactly, at most 20.
    unranked
        ``"below"``: a list puts the documents that it lacks below its own, with no order among them; ``"unknown"``: it
        orders only its own.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]])
    >>> Kemeny().order(lists)
    ['a', 'b', 'c']
    >>> Kemeny().distance(lists, Kemeny().scores(lists)).tolist()  # b–a and c–a in one list, c–b in another
    [3.0]

    References
    ----------
    Kemeny: Mathematics without numbers. Daedalus 1959. Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the
    web. WWW 2001.
    """

    name: ClassVar[str] = "Kemeny"
    aliases: ClassVar[tuple[str, ...]] = ("KemenyYoung",)

    exact: int = 12
    unranked: str = "below"

    def __post_init__(self) -> None:
        if not 0 <= self.exact <= 20:
            raise DataError(f"Kemeny: exact={self.exact}; give 0 to 20 (each extra document doubles time and memory)")

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return consensus(lists, weights, self.exact, self.unranked, n_jobs)

    def distance(self, lists: RankLists, scores: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Weighted number of pairs, per query, that these scores and the lists put in opposite order."""
        out = np.empty(lists.n_queries)
        before = lists.places(self.unranked).before
        weights = self.list_weights(lists)
        over_queries(_distance, lists.offsets, before, weights, np.ascontiguousarray(scores, float), out, n_jobs=n_jobs)
        return out


def consensus(
    lists: RankLists,
    weights: np.ndarray,
    exact: int,
    unranked: str,
    n_jobs: int | None,
    *,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Scores of Kemeny's order of each query; the search in long blocks begins with the order of ``start``."""
    out = np.empty(lists.n_rows)
    before = lists.places(unranked).before
    first = np.empty(0) if start is None else start
    arguments = (before, weights, exact, first, out)
    over_queries(_consensus, lists.offsets, *arguments, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)
    return out


@kernel
def solve_block(block, wins, cost, last):
    """Best order of a few documents: for each subset, the cheapest way to rank it first."""
    n = block.size
    cost[: 1 << n] = np.inf
    cost[0] = 0.0
    for subset in range((1 << n) - 1):
        for i in range(n):
            if subset >> i & 1:
                continue
            added = cost[subset]
            for j in range(n):
                if subset >> j & 1:
                    added += wins[block[i], block[j]]  # j comes before i, against these lists
            if added < cost[subset | 1 << i]:
                cost[subset | 1 << i] = added
                last[subset | 1 << i] = i
    subset = (1 << n) - 1
    chosen = np.empty(n, np.int64)
    for position in range(n - 1, -1, -1):
        chosen[position] = block[last[subset]]
        subset ^= 1 << last[subset]
    block[:] = chosen


@kernel
def _by_score(block, scores, a, spare, spare_order, keys, chosen):
    """Put the documents of a block into the order of their scores."""
    n = block.size
    for i in range(n):
        keys[i] = scores[a + block[i]]
    argsort_descending(keys, chosen, spare, spare_order, n)
    for i in range(n):
        chosen[i] = block[chosen[i]]
    block[:] = chosen[:n]


@kernel
def _consensus(lo, hi, offsets, before, weights, exact, first, out):
    n_max = longest(lo, hi, offsets)
    memory = np.empty(n_max * n_max, np.float64)
    degree, order, spare, spare_order = sorting_memory(n_max)
    keys = np.empty(n_max, np.float64)
    chosen = np.empty(n_max, np.int64)
    cost = np.empty(1 << min(exact, n_max), np.float64)
    last = np.empty(cost.size, np.int8)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        wins = memory[: n * n].reshape(n, n)
        count_pairs(before, a, n, weights, spare, wins)
        count_beaten(wins, degree)
        argsort_descending(degree, order, spare, spare_order, n)
        start = 0
        total = 0.0
        for end in range(1, n + 1):  # the first ``end`` beat all others if they have every possible win
            total += degree[end - 1]
            if total == end * (n - end) + 0.5 * end * (end - 1):
                block = order[start:end]
                if end - start > exact:
                    if first.size:
                        _by_score(block, first, a, spare, spare_order, keys, chosen)
                    improve(block, wins, MOST_PASSES)
                elif end - start > 1:
                    solve_block(block, wins, cost, last)
                start = end
        for i in range(n):
            out[a + order[i]] = n - i


@kernel
def _distance(lo, hi, offsets, before, weights, scores, out):
    for q in range(lo, hi):
        out[q] = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if scores[i] > scores[j]:
                    for m in range(weights.size):
                        if 0 <= before[j, m] < before[i, m]:
                            out[q] += weights[m]
