"""Fuzzy rank aggregation: how much better each document is than the others, using a quantifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.aggregation._pairs import count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["Fuzzy"]


@dataclass(frozen=True, kw_only=True)
class Fuzzy(Aggregation):
    r"""Shimura's fuzzy aggregation: a document is good to the degree that it is at least as good as most others.

    With w(u, v) the weight of the lists that prefer u to v, the membership of u in "at least as good as v" is

    .. math:: f(u \mid v) = \frac{w(u, v)}{\max\big(w(u, v), w(v, u)\big)}

    (1 if no list compares them). The score of u is the ordered weighted average of its n − 1 memberships, sorted
    from large to small, with the weights :math:`(k/(n-1))^\alpha - ((k-1)/(n-1))^\alpha` of the quantifier
    :math:`r^\alpha`: the mean for α = 1, approaching the smallest membership (Shimura's rule) as α grows.

    Parameters
    ----------
    alpha
        Exponent α of the quantifier, above 0; 2 is Yager's "most".
    unranked
        ``"below"``: a list prefers its own documents to those that it lacks; ``"unknown"``: it compares only its own.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]])
    >>> Fuzzy(alpha=1).scores(lists).tolist()  # memberships 1, 1; 1/2, 1; 0, 1/2
    [1.0, 0.75, 0.25]

    References
    ----------
    Ahmad, Beg: Fuzzy logic based rank aggregation methods for the World Wide Web. 2002.
    Shimura: Fuzzy sets concept in rank-ordering objects. Journal of Mathematical Analysis and Applications 1973.
    """

    name: ClassVar[str] = "Fuzzy"
    aliases: ClassVar[tuple[str, ...]] = ("Shimura",)

    alpha: float = 2.0
    unranked: str = "below"

    def __post_init__(self) -> None:
        number("Fuzzy: alpha", self.alpha, above=0)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        before = lists.places(self.unranked).before
        over_queries(
            _average,
            lists.offsets,
            before,
            weights,
            float(self.alpha),
            out,
            n_jobs=n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out


@kernel
def _average(lo, hi, offsets, before, weights, alpha, out):
    n_max = longest(lo, hi, offsets)
    memory = np.empty(n_max * n_max, np.float64)
    member, order, spare, spare_order = sorting_memory(n_max)
    share = np.empty(n_max, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        wins = memory[: n * n].reshape(n, n)
        count_pairs(before, a, n, weights, spare, wins)
        for k in range(n - 1):
            share[k] = ((k + 1.0) / (n - 1.0)) ** alpha - (k / (n - 1.0)) ** alpha
        for i in range(n):
            k = 0
            for j in range(n):
                if i != j:
                    most = max(wins[i, j], wins[j, i])
                    member[k] = wins[i, j] / most if most > 0.0 else 1.0
                    k += 1
            argsort_descending(member, order, spare, spare_order, n - 1)
            out[a + i] = 0.0
            for k in range(n - 1):
                out[a + i] += share[k] * member[k]
