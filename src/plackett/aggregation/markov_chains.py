"""Random walks on the documents of a query: their stationary distribution, without a table of transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.aggregation._pairs import count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import Places, RankLists

__all__ = ["MC1", "MC2", "MC3", "MC4"]


@dataclass(frozen=True, kw_only=True)
class MarkovChain(Aggregation):
    """Methods that walk from document to better document and rank by the time the walk spends on each.

    Parameters
    ----------
    teleport
        Probability δ of jumping to a random document of the query at each step. It ensures a unique stationary
        distribution, π = (1 − δ) π T + δ/n, for any lists.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only lists that have a document
        move the walk away from it, as in the paper.
    tol, max_iter
        The walk stops when the distribution changes by less than ``tol`` in total, or after ``max_iter`` steps. The
        distance shrinks at least by a factor of 1 − δ per step.
    """

    teleport: float = 0.05
    unranked: str = "below"
    tol: float = 1e-10
    max_iter: int = 1000

    def __post_init__(self) -> None:
        number(f"{self.name}: teleport", self.teleport, above=0, below=1)

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability, per row and list, of moving to each of the documents before it; and where those end.

        The first is a table of floats, the second one of the two tables of `places`: ``before`` if a walk may also
        go to ties and to the document itself, ``upto`` if it goes only to better ones.
        """
        raise NotImplementedError

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        places = lists.places(self.unranked)
        sizes = lists.per_row(np.add.reduceat(places.before >= 0, lists.offsets[:-1], axis=0, dtype=np.int64))
        chance, reach = self._steps(places, np.where(places.before >= 0, weights, 0.0), sizes)
        reached = places.upto if reach is places.before else places.before
        stay = np.maximum(1.0 - (chance * reached).sum(axis=1), 0.0)
        out = np.empty(lists.n_rows)
        control = (self.teleport, self.tol, self.max_iter)
        over_queries(_walk, lists.offsets, places.before, reach, chance, stay, *control, out, n_jobs=n_jobs)
        return out


@kernel
def _walk(lo, hi, offsets, before, reach, chance, stay, teleport, tol, max_iter, out):
    """Power iteration. One step costs documents × lists: what flows up a list is a sum from its end."""
    n_max = longest(lo, hi, offsets)
    now = np.empty(n_max, np.float64)
    new = np.empty(n_max, np.float64)
    flow = np.empty(n_max + 1, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        now[:n] = 1.0 / n
        for _ in range(max_iter):
            for i in range(n):
                new[i] = now[i] * stay[a + i]
            for m in range(before.shape[1]):
                flow[: n + 1] = 0.0
                for i in range(n):
                    if before[a + i, m] >= 0:
                        flow[before[a + i, m]] += now[i] * chance[a + i, m]
                for position in range(n - 1, -1, -1):
                    flow[position] += flow[position + 1]
                for i in range(n):
                    if reach[a + i, m] >= 0:
                        new[i] += flow[reach[a + i, m]]
            moved = 0.0
            for i in range(n):
                new[i] = (1.0 - teleport) * new[i] + teleport / n
                moved += abs(new[i] - now[i])
                now[i] = new[i]
            if moved < tol:
                break
        out[a : a + n] = now[:n]


@dataclass(frozen=True, kw_only=True)
class MC1(MarkovChain):
    """MC1: go to a document drawn from all those that any list has at or above the current one, counted per list.

    Scores are the stationary probabilities of the walk.

    Parameters
    ----------
    teleport
        Probability of jumping to a random document of the query at each step.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have a
        document count for it, as in the paper.
    tol, max_iter
        The walk stops when the distribution changes by less than ``tol`` in total, or after ``max_iter`` steps.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> MC1().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC1"

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        everything = (weights * np.maximum(places.upto, 0)).sum(axis=1, keepdims=True)
        return weights / np.where(everything > 0, everything, 1.0), places.before


@dataclass(frozen=True, kw_only=True)
class MC2(MarkovChain):
    """MC2: draw one of the lists that have the current document, then a document at or above it there.

    Scores are the stationary probabilities of the walk.

    Parameters
    ----------
    teleport
        Probability of jumping to a random document of the query at each step.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have a
        document count for it, as in the paper.
    tol, max_iter
        The walk stops when the distribution changes by less than ``tol`` in total, or after ``max_iter`` steps.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> MC2().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC2"

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total > 0, total, 1.0) / np.maximum(places.upto, 1), places.before


@dataclass(frozen=True, kw_only=True)
class MC3(MarkovChain):
    """MC3: draw one of the lists that have the current document and one of its documents; go there if it is better.

    Scores are the stationary probabilities of the walk.

    Parameters
    ----------
    teleport
        Probability of jumping to a random document of the query at each step.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have a
        document count for it, as in the paper.
    tol, max_iter
        The walk stops when the distribution changes by less than ``tol`` in total, or after ``max_iter`` steps.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> MC3().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC3"

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total > 0, total, 1.0) / np.maximum(sizes, 1), places.upto


@dataclass(frozen=True, kw_only=True)
class MC4(MarkovChain):
    """MC4: draw any document; go there if a majority of the lists prefers it to the current one.

    Scores are the stationary probabilities of the walk. A document that beats every other one by majority (a Condorcet
    winner) comes first, for every ``teleport``: every other document leads to it, and it leads nowhere.

    Parameters
    ----------
    teleport
        Probability of jumping to a random document of the query at each step.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have both
        documents vote, as in the paper.
    tol, max_iter
        The walk stops when the distribution changes by less than ``tol`` in total, or after ``max_iter`` steps.

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

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        control = (self.teleport, self.tol, self.max_iter)
        before = lists.places(self.unranked).before
        over_queries(
            _majority_walk,
            lists.offsets,
            before,
            weights,
            *control,
            out,
            n_jobs=n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out


@kernel
def _majority_walk(lo, hi, offsets, before, weights, teleport, tol, max_iter, out):
    n_max = longest(lo, hi, offsets)
    memory = np.empty(2 * n_max * n_max, np.float64)
    now = np.empty(n_max, np.float64)
    new = np.empty(n_max, np.float64)
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
