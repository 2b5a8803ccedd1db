"""Bound by query-level stability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from plackett.theory.bounds.base import Bound

__all__ = ["QueryStabilityBound"]


@dataclass(frozen=True, kw_only=True)
class QueryStabilityBound(Bound):
    r"""Theorem 1 of Lan et al.: the query-level risk of an algorithm whose loss on any associate changes by at most τ
    when one of its r training queries is removed,

    .. math:: R - \hat R \le 2 \tau(r) + (4 r \tau(r) + B) \sqrt{\log(1/\delta) / (2 r)}

    It falls like 1/√r where τ is of order 1/r; with a τ that does not fall it grows like √r.

    Parameters
    ----------
    queries
        r.
    tau
        τ: a number, or a function of r such as `ir_svm_query_stability`, which `solve` needs.
    loss_bound
        B, the largest loss; see `hinge_loss_bound`.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> round(QueryStabilityBound(queries=200, tau=0.2, loss_bound=7.3245553).value, 6)
    14.880421
    """

    framework: ClassVar[str] = "subset"
    approach: ClassVar[str] = "pairwise"
    kind: ClassVar[str] = "algorithm"
    rate: ClassVar[str] = "1/√r where τ = O(1/r)"
    assumptions: ClassVar[tuple[str, ...]] = ("independent queries", "query-level stability", "a bounded loss")
    sizes: ClassVar[tuple[str, ...]] = ("queries",)

    queries: int
    tau: float | Callable[[float], float]
    loss_bound: float = 1.0

    @property
    def loss_range(self) -> float:
        """B."""
        return self.loss_bound

    @property
    def value(self) -> float:
        """The bound."""
        r = self.queries
        tau = self.tau(r) if callable(self.tau) else self.tau
        return 2.0 * tau + (4.0 * r * tau + self.loss_bound) * sqrt(log(1.0 / self.delta) / (2.0 * r))
