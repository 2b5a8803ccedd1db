"""Bound by the rank-shatter coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from plackett._base.arguments import number
from plackett.theory.bounds.base import Bound
from plackett.theory.bounds.rank_shatter import linear_log_coefficient

__all__ = ["RankShatterBound"]


@dataclass(frozen=True, kw_only=True)
class RankShatterBound(Bound):
    r"""Theorem 17.2 of Liu: deviation of the bipartite pair error by the rank-shatter coefficient r,

    .. math:: |R_0 - \hat R_0| \le \sqrt{\frac{8 (m^+ + m^-)(\log(4/\delta) + \log r(2m^+, 2m^-))}{m^+ m^-}}

    Note the doubled sample sizes inside r. For linear functions of one feature r is 3, of two 4·2m⁺·2m⁻ + 1, and of
    d it is at most :math:`(2e \cdot 2m^+ \cdot 2m^- / d)^d` where there are more than d pairs, and never more than
    :math:`3^{2m^+ \cdot 2m^-}`.

    Parameters
    ----------
    n_features
        d, for linear scoring functions.
    coefficient
        r itself, for other classes.

    References
    ----------
    Agarwal, Graepel, Herbrich, Har-Peled, Roth: Generalization bounds for the area under the ROC curve. JMLR 2005.

    Examples
    --------
    >>> round(RankShatterBound(positives=1000, negatives=5000).value, 7)
    0.2293777
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    bounded: ClassVar[str] = "|pair error − empirical pair error|"
    rate: ClassVar[str] = "√(log m / m); 1/√m for one feature"
    assumptions: ClassVar[tuple[str, ...]] = ("independent positives and independent negatives", "a finite coefficient")
    sizes: ClassVar[tuple[str, ...]] = ("positives", "negatives")

    positives: int
    negatives: int
    n_features: int = 1
    coefficient: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        number("n_features", self.n_features, least=1)
        if self.coefficient is not None:
            number("coefficient", self.coefficient, least=1)

    @property
    def log_coefficient(self) -> float:
        """Logarithm of r at the doubled sample sizes."""
        if self.coefficient is not None:
            return log(self.coefficient)
        pairs = 4.0 * self.positives * self.negatives
        d = self.n_features
        return _LOG_OF_LINEAR[d](pairs) if d in _LOG_OF_LINEAR else linear_log_coefficient(pairs, d)

    @property
    def value(self) -> float:
        """The bound."""
        spread = 8.0 * (self.positives + self.negatives) / (self.positives * self.negatives)
        return sqrt(spread * (log(4.0 / self.delta) + self.log_coefficient))


#: Exact coefficients of linear functions, from the number of pairs.
_LOG_OF_LINEAR = {1: lambda pairs: log(3.0), 2: lambda pairs: log(4.0 * pairs + 1.0)}
