"""Bound of IR-SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.theory.bounds._svm import SVMBound
from plackett.theory.stability.ir_svm import ir_svm_query_stability

__all__ = ["IRSVMBound"]


@dataclass(frozen=True, kw_only=True)
class IRSVMBound(SVMBound):
    r"""Theorem 4 of Lan et al.: IR-SVM, whatever the numbers of pairs,

    .. math:: R - \hat R \le \frac{8\kappa^2}{\lambda r} + \frac{16 \kappa^2 + \lambda(1 + 2C\kappa)}{\lambda}
              \sqrt{\frac{\log(1/\delta)}{2 r}}

    Parameters as in `RankSVMMomentsBound`.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> [round(IRSVMBound(queries=r).value, 6) for r in (100, 10_000, 1_000_000)]
    [2.405359, 0.233336, 0.023262]
    """

    rate: ClassVar[str] = "1/√r"
    assumptions: ClassVar[tuple[str, ...]] = ("independent queries",)

    @property
    def tau(self) -> float:
        """4κ²/(λr)."""
        return ir_svm_query_stability(self.queries, self.penalty, self.kappa)
