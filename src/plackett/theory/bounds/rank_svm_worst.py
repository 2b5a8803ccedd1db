"""Bound of Ranking SVM where nothing is known about the numbers of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.theory.bounds._svm import SVMBound

__all__ = ["RankSVMWorstBound"]


@dataclass(frozen=True, kw_only=True)
class RankSVMWorstBound(SVMBound):
    r"""Theorem 3 of Lan et al.: Ranking SVM in the worst case, in which one query has nearly all pairs,

    .. math:: R - \hat R \le \frac{8\kappa^2}{\lambda} + \frac{16 r \kappa^2 + \lambda(1 + 2C\kappa)}{\lambda}
              \sqrt{\frac{\log(1/\delta)}{2 r}}

    It grows with the number r of queries, so it is vacuous. Parameters as in `RankSVMMomentsBound`.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> round(RankSVMWorstBound(queries=100).value, 2), round(RankSVMWorstBound(queries=10_000).value, 1)
    (204.19, 1966.2)
    """

    rate: ClassVar[str] = "grows like √r"
    assumptions: ClassVar[tuple[str, ...]] = ("independent queries",)

    @property
    def tau(self) -> float:
        """4κ²/λ, whatever the number of queries."""
        return 4.0 * self.kappa**2 / self.penalty
