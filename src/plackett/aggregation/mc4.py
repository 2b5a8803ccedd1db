"""The Markov chain MC4 of rank aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.aggregation._markov import MarkovChain
from plackett.aggregation._pairs import count_pairs
from plackett.aggregation._places import longest_list
from plackett.aggregation.lists import RankLists

__all__ = ["MC4"]


@dataclass(frozen=True, kw_only=True)
class MC4(MarkovChain):
    """MC4: draw any document; go there if a majority of the lists prefers it to the current one.

    Scores are the stationary probabilities of the walk. A document that beats every other one by majority (a Condorcet
    winner) comes first, for every ``teleport``: each other document sends to it, and it sends nowhere.

    Parameters
    ----------
    teleport
        Chance of each step to go to any document of the query instead.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have both
        documents vote, as in the paper.
    tol, max_iter
        The walk ends when the distribution moves by less than this in sum, or after so many steps.

    Notes
    -----
    Needs a table of n² numbers while it works on a query of n documents.

    Examples
    --------
    >>> MC4().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC4"
    _ids: ClassVar[tuple[str, ...]] = ("aggregate.markov_chain",)
    paper: ClassVar[str] = "Dwork, Kumar, Naor, Sivakumar 2001"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        control = (self.teleport, self.tol, self.max_iter)
        before = lists.places(self.unranked).before
        over_queries(
            _walk, lists.offsets, before, weights, *control, out, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD
        )
        return out


@kernel
def _walk(lo, hi, offsets, before, weights, teleport, tol, max_iter, out):  # type: ignore[no-untyped-def]
    longest = longest_list(lo, hi, offsets)
    memory = np.empty(2 * longest * longest, np.float64)
    now = np.empty(longest, np.float64)
    new = np.empty(longest, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        if n == 0:
            continue
        wins = memory[: n * n].reshape(n, n)
        go = memory[n * n : 2 * n * n].reshape(n, n)  # from the row to the column
        count_pairs(before, a, n, weights, now, wins)
        for i in range(n):
            left = 0.0
            for j in range(n):
                go[i, j] = 1.0 / n if wins[j, i] > wins[i, j] else 0.0
                left += go[i, j]
            go[i, i] = 1.0 - left
        now[:n] = 1.0 / n
        for _ in range(max_iter):
            new[:n] = teleport / n
            for i in range(n):
                share = (1.0 - teleport) * now[i]
                for j in range(n):
                    new[j] += share * go[i, j]
            moved = 0.0
            for i in range(n):
                moved += abs(new[i] - now[i])
                now[i] = new[i]
            if moved < tol:
                break
        out[a : a + n] = now[:n]
