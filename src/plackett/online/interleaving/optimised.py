"""Optimised interleaving and multileaving."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, whole
from plackett.online.interleaving.base import Interleaved, Interleaving

__all__ = ["Optimised"]


@dataclass(frozen=True, eq=False)
class InterleavingPlan:
    """The lists that `Optimised` may show for some rankings, with the probability of each.

    Attributes
    ----------
    lists
        Numbers of documents in the pool (all documents, in order of first appearance), one row per list.
    probability
        Of each list.
    credit
        Of each ranker for each document of the pool, with the mean over rankers subtracted.
    residual
        Expected credit of each ranker for a click at each rank, whatever the document. It is subtracted, so that clicks
        that depend on the rank alone favour no ranker. 0 where the program has a fair solution.
    """

    lists: np.ndarray
    probability: np.ndarray
    credit: np.ndarray
    residual: np.ndarray


@dataclass(frozen=True)
class Optimised(Interleaving):
    """Among the lists that only ever add a ranker's best remaining document, the most sensitive fair mixture.

    The probabilities of the lists solve a linear program: for every rank, the expected credit of a click there is the
    same for all rankers, and the expected sensitivity is highest. Sensitivity of a list is the variance of the credit
    of one click, at rank i with probability ∝ 1/i. The program depends only on how the lists overlap; solutions are
    cached, and the first list for a new overlap takes milliseconds rather than microseconds. With many rankers there
    may be no mixture that is fair at every rank; then the nearest one is used, and the expected credit at each rank is
    subtracted.

    Parameters
    ----------
    credit
        ``"inverse"``, 1 / rank in the ranker's list, or ``"linear"``, minus the rank.
    most_lists
        Lists to choose among; where more are possible, this many are drawn (always the case for many rankers).

    References
    ----------
    Radlinski, Craswell: Optimized interleaving for online retrieval evaluation. WSDM 2013.
    Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved comparisons for fast online evaluation. CIKM 2014.

    Examples
    --------
    >>> shown = Optimised().make([["a", "b", "c"], ["b", "c", "a"]], 3, Random(1))
    >>> sorted(shown.documents)
    ['a', 'b', 'c']
    """

    name: ClassVar[str] = "optimised"

    credit: str = "inverse"
    most_lists: int = 256

    def __post_init__(self) -> None:
        choice("credit", self.credit, _CREDITS)
        whole("most_lists", self.most_lists, least=1)

    def make(self, lists: Sequence[Sequence[Hashable]], k: int, rng: Random) -> Interleaved:
        """Draw one list of at most k documents."""
        pool = list(dict.fromkeys(document for each in lists for document in each))
        number = {document: i for i, document in enumerate(pool)}
        plan = _plan(tuple(tuple(number[d] for d in each) for each in lists), k, self.credit, self.most_lists)
        cumulated = np.cumsum(plan.probability)
        row = plan.lists[int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))]
        return Interleaved([pool[i] for i in row], (plan.credit[row] - plan.residual).tolist())

    def plan(self, lists: Sequence[Sequence[Hashable]], k: int) -> InterleavingPlan:
        """The lists with their probabilities."""
        number: dict[Any, int] = {}
        coded = tuple(tuple(number.setdefault(d, len(number)) for d in each) for each in lists)
        return _plan(coded, k, self.credit, self.most_lists)


def _inverse(rank: np.ndarray) -> np.ndarray:
    return 1.0 / rank


def _linear(rank: np.ndarray) -> np.ndarray:
    return -rank


_CREDITS = {"inverse": _inverse, "linear": _linear}


@lru_cache(maxsize=4096)
def _plan(lists: tuple[tuple[int, ...], ...], k: int, credit: str, most: int) -> InterleavingPlan:
    if not any(lists):
        return InterleavingPlan(
            np.zeros((1, 0), np.int64), np.ones(1), np.zeros((0, len(lists))), np.zeros((0, len(lists)))
        )
    n, m = 1 + max((max(each, default=-1) for each in lists), default=-1), len(lists)
    rank = np.empty((n, m))
    for ranker, each in enumerate(lists):
        rank[:, ranker] = len(each) + 1
        rank[list(each), ranker] = np.arange(1, len(each) + 1)
    worth = _CREDITS[credit](rank)
    worth -= worth.mean(axis=1, keepdims=True)
    k = min(k, n)
    allowed = np.array(list_choices(lists, k, most), np.int64).reshape(-1, k)
    by_rank = worth[allowed]  # list, rank, ranker
    look = 1.0 / np.arange(1, k + 1)
    look /= look.sum()
    mean = np.einsum("lkm,k->lm", by_rank, look)
    gain = (np.einsum("lkm,k->lm", by_rank**2, look) - mean**2).sum(axis=1)
    probability = _solve(by_rank.reshape(len(allowed), -1).T, gain)
    return InterleavingPlan(allowed, probability, worth, np.einsum("l,lkm->km", probability, by_rank))


def list_choices(lists: tuple[tuple[int, ...], ...], k: int, most: int) -> list[tuple[int, ...]]:
    """Lists that add the best remaining document of some ranker at every rank; at most ``most`` of them."""
    level: list[tuple[int, ...]] = [()]
    for _ in range(k):
        longer: list[tuple[int, ...]] = []
        for begun in level:
            used = set(begun)
            heads = {next((d for d in each if d not in used), -1) for each in lists} - {-1}
            longer.extend((*begun, head) for head in sorted(heads))
        level = longer
        if len(level) > most:
            return _drawn(lists, k, most)
    return level


def _drawn(lists: tuple[tuple[int, ...], ...], k: int, most: int) -> list[tuple[int, ...]]:
    """Random lists of the same kind, closed under swapping two rankers so that a fair mixture of two exists."""
    rng = Random(0)
    drawn: set[tuple[int, ...]] = set()
    for _ in range(most):
        turns = [rng.randrange(len(lists)) for _ in range(k)]
        mirrored = [[1 - turn for turn in turns]] if len(lists) == 2 else []
        for way in (turns, *mirrored):
            begun: list[int] = []
            for turn in way:
                ranking = (d for each in (*lists[turn:], *lists[:turn]) for d in each)  # the next ranker's if used up
                begun.append(next(d for d in ranking if d not in begun))
            drawn.add(tuple(begun))
    return sorted(drawn)


def _solve(unfair: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Probabilities with ``unfair @ p = 0``, as nearly as possible, and the highest expected gain."""
    from scipy.optimize import linprog

    rows, n = unfair.shape
    # p, then the excess and the shortfall of each row
    equal = np.block([[unfair, -np.eye(rows), np.eye(rows)], [np.ones((1, n)), np.zeros((1, 2 * rows))]])
    right = np.zeros(rows + 1)
    right[-1] = 1.0
    penalty = 1e3 * (1.0 + np.abs(gain).max(initial=0.0))
    cost = np.concatenate([-gain, np.full(2 * rows, penalty)])
    optimum = linprog(cost, A_eq=equal, b_eq=right, method="highs")
    p = np.maximum(optimum.x[:n], 0.0)
    return p / p.sum()
