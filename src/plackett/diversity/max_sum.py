"""Max-sum diversification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import similar_to
from plackett.diversity.distances import WithDistance, relevance_first

__all__ = ["MaxSum"]


@dataclass(frozen=True, kw_only=True)
class MaxSum(WithDistance):
    r"""Max-sum: relevant documents that are far apart on average,

    .. math:: \max_{|S| = k}\; \lambda (k - 1) \sum_{u \in S} f(u) + 2 (1 - \lambda) \sum_{\{u, v\} \subset S} d(u, v),
              \qquad d = 1 - \mathrm{sim}.

    This is a sum over pairs of :math:`d'(u, v) = \lambda (f(u) + f(v)) + 2 (1 - \lambda) d(u, v)`; the paper weighs the
    distances by :math:`(1 - \lambda) / \lambda` and relevance by 1. The best pair of the remaining candidates is taken
    repeatedly, which gives at least half of the optimum if d' is a metric; with odd k the best remaining document is
    added. The set is shown in order of decreasing relevance.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> MaxSum(k=2).order(data, [3.0, 2.9, 2.0]).tolist()
    [0, 2, 1]

    References
    ----------
    Gollapudi and Sharma: An axiomatic approach for result diversification. WWW 2009.
    """

    name: ClassVar[str] = "MaxSum"

    def _kernel(self) -> Any:
        return _choose

    @staticmethod
    def value(relevance: Any, distances: Any, trade_off: float) -> float:
        """The objective of a set, with a matrix of distances."""
        f, d = np.asarray(relevance, np.float64), np.asarray(distances, np.float64)
        pairs = np.triu(d, 1).sum()
        return float(trade_off * (f.size - 1) * f.sum() + 2.0 * (1.0 - trade_off) * pairs)


@kernel
def _choose(  # type: ignore[no-untyped-def]
    lo, hi, offsets, relevance, chosen, candidates, vectors, pointers, other, weight, trade_off, order
):
    for q in range(lo, hi):
        first, last, n, k = offsets[q], offsets[q + 1], candidates[q], chosen[q]
        rows = order[first : first + n].copy()
        row, taken = np.empty(last - first), np.zeros(n, np.bool_)
        # the best partner of each candidate, searched for again when it is taken
        partner, gain = np.full(n, -1), np.full(n, -np.inf)
        for _ in range(k // 2):
            for i in range(n):
                if taken[i] or (partner[i] >= 0 and not taken[partner[i]]):
                    continue
                partner[i], gain[i] = -1, -np.inf
                similar_to(rows[i], first, last, vectors, pointers, other, weight, row)
                for j in range(n):
                    if j != i and not taken[j]:
                        both = relevance[rows[i]] + relevance[rows[j]]
                        value = trade_off * both + 2.0 * (1.0 - trade_off) * (1.0 - row[rows[j] - first])
                        if value > gain[i]:
                            partner[i], gain[i] = j, value
            best = -1
            for i in range(n):
                if not taken[i] and partner[i] >= 0 and (best < 0 or gain[i] > gain[best]):
                    best = i
            taken[best], taken[partner[best]] = True, True
        if k % 2 == 1:
            far = np.zeros(n)
            for i in range(n):
                if taken[i]:
                    similar_to(rows[i], first, last, vectors, pointers, other, weight, row)
                    for j in range(n):
                        far[j] += 1.0 - row[rows[j] - first]
            best = -1
            for i in range(n):
                if not taken[i]:
                    far[i] = trade_off * (k - 1) * relevance[rows[i]] + 2.0 * (1.0 - trade_off) * far[i]
                    if best < 0 or far[i] > far[best]:
                        best = i
            taken[best] = True
        relevance_first(order, first, rows, taken, n)
