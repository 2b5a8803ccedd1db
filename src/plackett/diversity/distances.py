"""Base of the re-rankers that weigh relevance against distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import ScoredCandidates, the_rest
from plackett.diversity.reranker import Reranker


@dataclass(frozen=True, kw_only=True)
class WithDistance(Reranker):
    """Re-rankers that weigh relevance against distance.

    Parameters
    ----------
    trade_off
        λ: 1 keeps the order of the scores, 0 looks at distances alone.
    """

    needs_similarity: ClassVar[bool] = True

    trade_off: float = 0.5

    def _check(self) -> None:
        super()._check()
        if not 0.0 <= self.trade_off <= 1.0:
            raise DataError(f"trade_off={self.trade_off}; give a number from 0 (novelty) to 1 (relevance)")

    def _arguments(self, pool: ScoredCandidates) -> tuple[Any, ...]:
        near = (pool.vectors, pool.pointers, pool.other, pool.weight)
        return pool.relevance, pool.chosen, pool.candidates, *near, self.trade_off


@kernel
def relevance_first(order, first, rows, taken, n):  # type: ignore[no-untyped-def]
    """Write the documents that were taken, then the others, both in the order of ``rows``."""
    rank = first
    for i in range(n):
        if taken[i]:
            order[rank] = rows[i]
            rank += 1
    the_rest(order, rank, rows, taken, n)
