"""Mono-objective diversification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import best_first, similar_to
from plackett.diversity.distances import WithDistance

__all__ = ["MonoObjective"]


@dataclass(frozen=True, kw_only=True)
class MonoObjective(WithDistance):
    r"""Mono-objective: each document has one value, its relevance plus its mean distance from all candidates U,

    .. math:: \lambda f(u) + \frac{1 - \lambda}{|U| - 1} \sum_{v \in U} d(u, v), \qquad d = 1 - \mathrm{sim},

    and the k documents with the largest values are the exact optimum of their sum. The best sets for different k are
    nested. The paper weighs the distances by :math:`(1 - \lambda) / \lambda` and relevance by 1.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> MonoObjective().order(data, [3.0, 2.9, 2.7]).tolist()
    [0, 1, 2]

    References
    ----------
    Gollapudi and Sharma: An axiomatic approach for result diversification. WWW 2009.
    """

    name: ClassVar[str] = "MonoObjective"

    def _kernel(self) -> Any:
        return _choose


@kernel
def _choose(lo, hi, offsets, relevance, chosen, candidates, vectors, pointers, other, weight, trade_off, order):
    for q in range(lo, hi):
        first, last, n, k = offsets[q], offsets[q + 1], candidates[q], chosen[q]
        if n < 2:
            continue
        rows = order[first : first + n].copy()
        row, value = np.empty(last - first), np.empty(n)
        for i in range(n):
            similar_to(rows[i], first, last, vectors, pointers, other, weight, row)
            total = 0.0
            for j in range(n):
                if j != i:
                    total += 1.0 - row[rows[j] - first]
            value[i] = trade_off * relevance[rows[i]] + (1.0 - trade_off) * total / (n - 1)
        best_first(order, first, rows, value, k)
