"""Max-min diversification."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import similar_to
from plackett.diversity.distances import WithDistance, relevance_first

__all__ = ["MaxMin"]

#: `MaxMin.best` enumerates sets up to this number.
_MOST_SETS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class MaxMin(WithDistance):
    r"""Max-min: no document of the list is irrelevant, and no two are alike,

    .. math:: \max_{|S| = k}\; \lambda \min_{u \in S} f(u) + (1 - \lambda) \min_{u \ne v \in S} d(u, v),
              \qquad d = 1 - \mathrm{sim}.

    The paper weighs the distances by :math:`(1 - \lambda) / \lambda` and relevance by 1. The usual method maximises a
    surrogate: the smallest :math:`d'(u, v) = \tfrac{\lambda}2 (f(u) + f(v)) + (1 - \lambda) d(u, v)`. It starts with
    the best pair and adds the document that is farthest from those chosen, which gives at least half of the best
    surrogate value if d' is a metric. The two objectives often have different best sets; `value` and `surrogate` give
    both, `best` finds the exact optimum of a few candidates.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> MaxMin(k=2).order(data, [3.0, 2.9, 2.0]).tolist()
    [0, 2, 1]

    References
    ----------
    Gollapudi and Sharma: An axiomatic approach for result diversification. WWW 2009.
    """

    name: ClassVar[str] = "MaxMin"

    def _kernel(self) -> Any:
        return _choose

    @staticmethod
    def value(relevance: Any, distances: Any, trade_off: float) -> float:
        """The objective of a set of two or more, with a matrix of distances."""
        f, d = np.asarray(relevance, np.float64), np.asarray(distances, np.float64)
        return float(trade_off * f.min() + (1.0 - trade_off) * d[np.triu_indices(f.size, 1)].min())

    @staticmethod
    def surrogate(relevance: Any, distances: Any, trade_off: float) -> float:
        """The smallest d' of a set of two or more: what the greedy method maximises."""
        f, d = np.asarray(relevance, np.float64), np.asarray(distances, np.float64)
        a, b = np.triu_indices(f.size, 1)
        return float((0.5 * trade_off * (f[a] + f[b]) + (1.0 - trade_off) * d[a, b]).min())

    @classmethod
    def best(cls, relevance: Any, distances: Any, k: int, trade_off: float = 0.5) -> list[int]:
        """The set of k documents with the largest `value`, by enumeration; for small lists.

        >>> MaxMin.best([1.0, 0.9, 0.2], [[0, 0, 1], [0, 0, 1], [1, 1, 0]], 2)
        [0, 2]
        """
        from math import comb

        n = len(relevance)
        whole("k", k, least=2, most=n)
        if comb(n, k) > _MOST_SETS:
            raise DataError(f"{comb(n, k):,} sets of {k} out of {n} documents are too many to enumerate")
        f, d = np.asarray(relevance, np.float64), np.asarray(distances, np.float64)
        sets = np.array(list(combinations(range(n), k)))
        a, b = np.triu_indices(k, 1)
        values = trade_off * f[sets].min(axis=1) + (1.0 - trade_off) * d[sets[:, a], sets[:, b]].min(axis=1)
        return sets[int(values.argmax())].tolist()


@kernel
def _choose(lo, hi, offsets, relevance, chosen, candidates, vectors, pointers, other, weight, trade_off, order):
    for q in range(lo, hi):
        first, last, n, k = offsets[q], offsets[q + 1], candidates[q], chosen[q]
        rows = order[first : first + n].copy()
        row, taken = np.empty(last - first), np.zeros(n, np.bool_)
        if k == 1 or n == 1:
            continue
        one, two, widest = -1, -1, -np.inf
        for i in range(n):
            similar_to(rows[i], first, last, vectors, pointers, other, weight, row)
            for j in range(i + 1, n):
                both = 0.5 * (relevance[rows[i]] + relevance[rows[j]])
                apart = trade_off * both + (1.0 - trade_off) * (1.0 - row[rows[j] - first])
                if apart > widest:
                    one, two, widest = i, j, apart
        nearest = np.full(n, np.inf)
        added = one
        for r in range(1, k + 1):
            taken[added] = True
            similar_to(rows[added], first, last, vectors, pointers, other, weight, row)
            for j in range(n):
                both = 0.5 * (relevance[rows[added]] + relevance[rows[j]])
                apart = trade_off * both + (1.0 - trade_off) * (1.0 - row[rows[j] - first])
                nearest[j] = min(nearest[j], apart)
            if r == k:
                break
            added = two
            if r > 1:
                added = -1
                for j in range(n):
                    if not taken[j] and (added < 0 or nearest[j] > nearest[added]):
                        added = j
        relevance_first(order, first, rows, taken, n)
