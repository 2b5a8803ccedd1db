"""VC bound of RankBoost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar

from plackett.theory.bounds.base import Bound
from plackett.theory.bounds.boosted_vc import boosted_vc

__all__ = ["RankBoostVCBound"]


@dataclass(frozen=True, kw_only=True)
class RankBoostVCBound(Bound):
    r"""Theorem 17.1 of Liu: deviation of the bipartite pair error of ensembles of T weak rankers of VC dimension V,

    .. math:: |R_0 - \hat R_0| \le \sum_{c \in \{+, -\}} 2 \sqrt{\frac{V'(\log(2 m_c / V') + 1) + \log(18/\delta)}{m_c}}

    with V′ of `boosted_vc`. It needs more than V′/2 documents of either kind and is infinite with fewer.

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.

    Examples
    --------
    >>> bound = RankBoostVCBound(positives=1000, negatives=5000, vc=2, rounds=5)
    >>> round(bound.value, 7), bound.vacuous
    (2.240087, True)
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    bounded: ClassVar[str] = "|pair error − empirical pair error|"
    rate: ClassVar[str] = "√(log m / m)"
    assumptions: ClassVar[tuple[str, ...]] = (
        "independent positives and independent negatives",
        "weak rankers of finite VC dimension",
        "more than V′/2 of each kind",
    )
    sizes: ClassVar[tuple[str, ...]] = ("positives", "negatives")

    positives: int
    negatives: int
    vc: float = 1.0
    rounds: int = 100

    @property
    def value(self) -> float:
        """The bound."""
        v = boosted_vc(self.vc, self.rounds)
        return sum(self._side(m, v) for m in (self.positives, self.negatives))

    def _side(self, m: float, v: float) -> float:
        if m <= v / 2:
            return inf
        return 2.0 * sqrt((v * (log(2.0 * m / v) + 1.0) + log(18.0 / self.delta)) / m)
