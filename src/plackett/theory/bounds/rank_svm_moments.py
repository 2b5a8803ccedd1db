"""Bound of Ranking SVM by mean and variance of the number of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.theory.bounds._svm import SVMBound
from plackett.theory.stability.pair_share import pair_share_bound

__all__ = ["RankSVMMomentsBound"]


@dataclass(frozen=True, kw_only=True)
class RankSVMMomentsBound(SVMBound):
    r"""Theorem 2 of Lan et al.: Ranking SVM, where queries have n pairs of mean μ and deviation σ.

    `QueryStabilityBound` with τ of `rank_svm_query_stability`, whose ratio of the largest to the mean number of pairs
    is bounded by `pair_share_bound`. It holds with probability 1 − 2δ. **The bound does not vanish**: 4rτ grows like √r
    and cancels the 1/√r, so that it tends to `limit`. It falls only where σ = 0, or the number of pairs is bounded.

    Parameters
    ----------
    queries
        r.
    mean, deviation
        μ and σ of the number of pairs of a query.
    slack
        ε by which the mean of the sample may be below μ.
    penalty, kappa, norm
        λ of mean hinge + λ‖f‖², κ² ≥ K(x, x), the largest ‖f‖ (None: 1/√λ).

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> bound = RankSVMMomentsBound(queries=100, mean=100, deviation=80, slack=1)
    >>> round(bound.value, 2), round(bound.limit, 3)
    (76.08, 70.766)
    """

    rate: ClassVar[str] = "does not vanish unless σ = 0"
    assumptions: ClassVar[tuple[str, ...]] = (
        "independent queries",
        "the number of pairs has mean μ and deviation σ",
        "enough queries that their mean number of pairs is above μ − ε",
    )

    mean: float
    deviation: float
    slack: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta < 0.5:
            raise DataError(f"delta={self.delta}; the bound holds with probability 1 − 2δ: give a number below 0.5")
        number("mean", self.mean, above=0.0)
        number("slack", self.slack, least=0, below=self.mean)

    @property
    def confidence(self) -> float:
        """1 − 2δ."""
        return 1.0 - 2.0 * self.delta

    @property
    def tau(self) -> float:
        """The query-level stability coefficient that holds with probability 1 − δ."""
        ratio = pair_share_bound(self.queries, self.mean, self.deviation, delta=self.delta, slack=self.slack)
        return 4.0 * self.kappa**2 / (self.penalty * self.queries) * ratio

    @property
    def limit(self) -> float:
        """Limit of the bound as the number of queries grows."""
        ratio = self.deviation / self.mean / (1.0 - self.slack / self.mean)
        return 16.0 * self.kappa**2 * ratio / (self.penalty * sqrt(self.delta)) * sqrt(log(1.0 / self.delta) / 2.0)
