"""Maximal marginal relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import similar_to, the_rest
from plackett.diversity.distances import WithDistance

__all__ = ["MMR"]


@dataclass(frozen=True, kw_only=True)
class MMR(WithDistance):
    r"""Maximal marginal relevance: the next document is relevant and unlike all chosen before,

    .. math:: \operatorname{arg\,max}_{d \notin S}\;
              \lambda\, \mathrm{rel}(d) - (1 - \lambda) \max_{s \in S} \mathrm{sim}(d, s).

    Each choice costs one pass over the candidates: the largest similarity so far is kept.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> MMR(trade_off=0.5).order(data, [3.0, 2.9, 2.0]).tolist()
    [0, 2, 1]

    References
    ----------
    Carbonell and Goldstein: The use of MMR, diversity-based reranking for reordering documents and producing summaries.
    SIGIR 1998.
    """

    name: ClassVar[str] = "MMR"

    trade_off: float = 0.7

    def _kernel(self) -> Any:
        return _choose


@kernel
def _choose(  # type: ignore[no-untyped-def]
    lo, hi, offsets, relevance, chosen, candidates, vectors, pointers, other, weight, trade_off, order
):
    for q in range(lo, hi):
        first, last, n = offsets[q], offsets[q + 1], candidates[q]
        near, row = np.zeros(last - first), np.empty(last - first)
        rows = order[first : first + n].copy()
        taken = np.zeros(n, np.bool_)
        for r in range(chosen[q]):
            best, best_value = -1, -np.inf
            for i in range(n):
                if not taken[i]:
                    value = trade_off * relevance[rows[i]] - (1.0 - trade_off) * near[rows[i] - first]
                    if value > best_value:
                        best, best_value = i, value
            taken[best] = True
            order[first + r] = rows[best]
            similar_to(rows[best], first, last, vectors, pointers, other, weight, row)
            for i in range(last - first):
                near[i] = max(near[i], row[i])
        the_rest(order, first + chosen[q], rows, taken, n)
