"""VC bound for U-statistics of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar

from plackett.theory.bounds.base import Bound

__all__ = ["UStatisticVCBound"]


@dataclass(frozen=True, kw_only=True)
class UStatisticVCBound(Bound):
    r"""Theorem 17.3 of Liu: deviation of the pair error of documents with labels of any kind,

    .. math:: |R_0 - \hat R_0| \le 4 c \sqrt{V/m} + 4 \sqrt{\log(1/\delta) / (m - 1)}

    with V the VC dimension of :math:`\{\operatorname{sgn}(f(x) - f(x'))\}`: d for linear functions of d features. The
    constant c is universal, but the source does not say how large; 1 is the default here.

    References
    ----------
    Clémençon, Lugosi, Vayatis: Ranking and empirical minimization of U-statistics. Annals of Statistics 2008.

    Examples
    --------
    >>> round(UStatisticVCBound(documents=1000, vc=5).value, 7)
    0.5018854
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    bounded: ClassVar[str] = "|pair error − empirical pair error|"
    rate: ClassVar[str] = "1/√m"
    assumptions: ClassVar[tuple[str, ...]] = ("independent documents", "all pairs of them", "c is not known")
    sizes: ClassVar[tuple[str, ...]] = ("documents",)

    documents: int
    vc: float = 1.0
    c: float = 1.0

    @property
    def value(self) -> float:
        """The bound."""
        m = self.documents
        if m < 2:
            return inf
        return 4.0 * self.c * sqrt(self.vc / m) + 4.0 * sqrt(log(1.0 / self.delta) / (m - 1))
