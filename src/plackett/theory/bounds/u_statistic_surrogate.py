"""Bound for U-statistics of convex surrogates."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from plackett._base.errors import DataError
from plackett.theory.bounds._slopes import slope_at
from plackett.theory.bounds.base import Bound

__all__ = ["UStatisticSurrogateBound"]


@dataclass(frozen=True, kw_only=True)
class UStatisticSurrogateBound(Bound):
    r"""Theorem 17.4 of Liu: deviation of the risk of an increasing convex surrogate φ of minus the margin, |f| ≤ B,

    .. math:: |R_\varphi - \hat R_\varphi| \le \frac{4 c\, B\, \varphi'(B)\, V}{\sqrt m}
              + \sqrt{\frac{B^2 \log(1/\delta)}{2 m}}

    The source prints V, where the two-layer bound has √V for the same quantity: ``vc_power`` is 1 as printed, or ½.

    Parameters
    ----------
    surrogate
        ``"exponential"``, ``"hinge"``, ``"logistic"`` or φ′(B).
    largest
        B.
    c
        A universal constant that the source does not give.

    References
    ----------
    Clémençon, Lugosi, Vayatis: Ranking and empirical minimization of U-statistics. Annals of Statistics 2008.

    Examples
    --------
    >>> bound = UStatisticSurrogateBound(documents=1000, vc=5)
    >>> round(bound.value, 7), round(bound.replace(vc_power=0.5).value, 7)
    (1.7578947, 0.8075485)
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    bounded: ClassVar[str] = "|surrogate risk − empirical surrogate risk|"
    rate: ClassVar[str] = "1/√m"
    assumptions: ClassVar[tuple[str, ...]] = ("independent documents", "bounded scores", "c is not known")
    sizes: ClassVar[tuple[str, ...]] = ("documents",)

    documents: int
    vc: float = 1.0
    surrogate: str | float = "exponential"
    largest: float = 1.0
    c: float = 1.0
    vc_power: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vc_power not in (0.5, 1.0):
            raise DataError(f"vc_power={self.vc_power}; give 1 (as printed) or 0.5")
        slope_at(self.surrogate, self.largest)

    @property
    def loss_range(self) -> float:
        """B φ′(B): how much the surrogate of a convex φ can vary on either side of 0."""
        return self.largest * slope_at(self.surrogate, self.largest)

    @property
    def value(self) -> float:
        """The bound."""
        m = self.documents
        steep = 4.0 * self.c * self.largest * slope_at(self.surrogate, self.largest) * self.vc**self.vc_power
        return steep / sqrt(m) + sqrt(self.largest**2 * log(1.0 / self.delta) / (2.0 * m))
