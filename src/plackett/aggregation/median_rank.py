"""Median rank aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["MedianRank"]


@dataclass(frozen=True, kw_only=True)
class MedianRank(Aggregation):
    r"""Median rank: sorts documents by the weighted median of their ranks; ties are broken by mean rank.

    The median rank m is the middle of the ranks r with at most half of the weight below and at most half above. The
    score is :math:`-m - 10^{-3}\, \bar r / (n + 1)`: medians are multiples of ¼, so the mean only breaks their ties. An
    order by median rank has at most twice the smallest footrule distance to complete lists.

    Parameters
    ----------
    unranked
        ``"below"``: a list ranks the documents that it lacks in the middle of its remaining ranks; ``"unknown"``:
        it says nothing about them.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["c", "b", "a"]])
    >>> MedianRank().order(lists)
    ['a', 'c', 'b']

    References
    ----------
    Fagin, Kumar, Sivakumar: Efficient similarity search and classification via rank aggregation. SIGMOD 2003.
    """

    name: ClassVar[str] = "MedianRank"
    aliases: ClassVar[tuple[str, ...]] = ("median",)

    unranked: str = "below"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        ranks = lists.once(("ranks", self.unranked), lambda: lists.places(self.unranked).ranks)
        out = np.empty(lists.n_rows)
        over_queries(_median, lists.offsets, ranks, weights, out, n_jobs=n_jobs)
        return out


@kernel
def _median(lo, hi, offsets, ranks, weights, out):  # type: ignore[no-untyped-def]
    ascending = np.empty(weights.size, np.float64)
    share = np.empty(weights.size, np.float64)
    for q in range(lo, hi):
        for row in range(offsets[q], offsets[q + 1]):
            n = 0
            total = 0.0
            mean = 0.0
            for m in range(weights.size):
                rank = ranks[row, m]
                if weights[m] > 0.0 and not np.isnan(rank):
                    i = n
                    while i > 0 and ascending[i - 1] > rank:
                        ascending[i] = ascending[i - 1]
                        share[i] = share[i - 1]
                        i -= 1
                    ascending[i] = rank
                    share[i] = weights[m]
                    total += weights[m]
                    mean += weights[m] * rank
                    n += 1
            if n == 0:
                out[row] = -np.inf  # only lists of weight 0 have it
                continue
            below = 0.0
            i = 0
            while below + share[i] < 0.5 * total - 1e-12 * total:
                below += share[i]
                i += 1
            median = ascending[i]
            if abs(below + share[i] - 0.5 * total) <= 1e-12 * total and i + 1 < n:
                median = 0.5 * (ascending[i] + ascending[i + 1])
            out[row] = -median - 1e-3 * mean / total / (offsets[q + 1] - offsets[q] + 1.0)
