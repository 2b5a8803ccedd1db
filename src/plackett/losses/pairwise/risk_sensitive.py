"""The lambda gradient of a risk-sensitive utility: losses against a baseline count more than gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.losses.base import BoundLoss, LossOnData
from plackett.losses.pairwise._swapped_pairs import SwappedLambda, swap_sweep
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.measures.swaps import swap

__all__ = ["RiskSensitive"]

#: Whether the additional weight depends on how far a query is from the baseline, and whether a swap is weighed by the
#: change of the utility or by that weight alone.
RISKS = {"urisk": (False, True), "saro": (True, True), "faro": (True, False)}


def _baseline_scores(baseline: int | str | None, data: RankingDataset) -> np.ndarray:
    if baseline is None:
        return np.zeros(data.n_rows)
    if baseline == "positions":
        if data.positions is None:
            raise LossError("baseline='positions', and the dataset has none; give a feature, or positions=…")
        return -data.positions.astype(np.float64)
    if isinstance(baseline, str):
        if data.feature_names is None or baseline not in list(data.feature_names):
            raise LossError(f"baseline={baseline!r} is not a feature of the data; give its index, or name the features")
        baseline = list(data.feature_names).index(baseline)
    if not 0 <= baseline < data.n_features:
        raise LossError(f"baseline={baseline}; the data have the features 0 to {data.n_features - 1}")
    column = data.X[:, [int(baseline)]]
    values = dense(column)[:, 0].astype(np.float64)
    return np.where(np.isnan(values), np.nanmin(values, initial=0.0) - 1.0, values)  # unknown comes last


@kernel(inline=True)
def _utility(gap, extra):
    return gap if gap >= 0.0 else (1.0 + extra) * gap


@kernel(inline=True)
def _pair(q, state, i, j, better, worse, right, apart, factor, near, sigma, own):
    """The change of the utility if two documents swap, or of the measure with the weight of the query."""
    gap, extra, by_utility = own
    change = swap(state, i, j)
    if by_utility:
        now = _utility(gap[q], extra[q])
        size = abs(_utility(gap[q] - change if right else gap[q] + change, extra[q]) - now)
    else:
        size = (1.0 + extra[q]) * change
    size *= factor
    size /= near
    doubt = 1.0 / (1.0 + np.exp(sigma * (apart if right else -apart)))
    return sigma * size * doubt, doubt


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskSensitive(SwappedLambda):
    r"""Lambda gradient of a utility that penalises losses against a baseline.

    .. math:: U = \sum_q u(M_q - B_q), \qquad u(d) = d \text{ if } d \ge 0 \text{ else } (1 + \alpha)\,d

    :math:`M_q` is the measure of the current ranking of query q and :math:`B_q` that of a baseline. The weight of a
    pair is the change of the utility when the two documents swap ranks,

    ========  ======================================================================================================
    risk      weight of a pair whose exchange changes M by δ, with :math:`d = M_q - B_q`
    ========  ======================================================================================================
    urisk     :math:`|u(d + \delta) - u(d)|`
    saro      the same, with :math:`\alpha' = \alpha\,(1 - \Phi(d / s))` instead of α
    faro      :math:`(1 + \alpha')\,|\delta|`
    ========  ======================================================================================================

    so that queries below the baseline, or about to fall below it, count more. The standard deviation s is that of
    :math:`u(d)` over the queries before training, all scores being equal. With α = 0 it is `Lambda`. FARO only weighs
    whole queries and is the mildest; as s grows with α, a large α does not make it stronger.

    Parameters
    ----------
    baseline
        The baseline ranking: index or name of a feature to rank by, ``"positions"`` (those of the dataset), or None
        for a random order, whose expected measure counts.
    alpha
        Additional weight of losses, 0 or more.
    risk
        ``"urisk"``, or one of the two forms of TRisk, ``"saro"`` and ``"faro"``.
    deviation
        s; None estimates it from the data.
    measure, truncation, sigma, normalize
        As in `Lambda`.

    References
    ----------
    Dinçer, Macdonald, Ounis: Hypothesis testing for the risk-sensitive evaluation of retrieval systems. SIGIR 2014
    (TRisk, SARO, FARO).
    Wang, Bennett, Collins-Thompson: Robust ranking models via risk-sensitive optimization. SIGIR 2012 (URisk).
    """

    name: ClassVar[str] = "RiskSensitive"
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = (
        {"normalize": False, "truncation": None, "alpha": 5.0},
        {"measure": "AP", "risk": "saro", "alpha": 3.0, "sigma": 2.0},
        {"measure": "RR", "risk": "faro", "normalize": False},
        {"measure": "ARP", "normalize": False, "truncation": 2},
    )
    kernel = staticmethod(swap_sweep(_pair))

    baseline: int | str | None = None
    alpha: float = 1.0
    risk: str = "urisk"
    deviation: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("risk", self.risk, RISKS, error=LossError)
        number("alpha", self.alpha, least=0.0, error=LossError)

    def settle(self, data: RankingDataset) -> Self:
        """The loss with the standard deviation of these data, for the forms that need it."""
        if self.deviation is not None or not RISKS[self.risk][0]:
            return self
        bound = LossOnData(self, data, None)
        gap = self._gap(bound, np.zeros(data.n_rows))
        utility = np.where(gap < 0.0, (1.0 + self.alpha) * gap, gap)
        return self.replace(deviation=float(utility.std(ddof=1)) if utility.size > 1 else 0.0)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The gradient on one dataset."""
        return LossOnData(self.settle(data), data, n_jobs)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """As for the other lambdas, and the measure of each query's baseline."""
        return *super().constants(bound), self._good(bound, _baseline_scores(self.baseline, bound.data))

    def _good(self, bound: LossOnData, scores: np.ndarray) -> np.ndarray:
        """The measure of each query, larger is better."""
        measure = parse(self.measure)
        return measure.worth(measure.per_query(Scored(bound.data, scores, n_jobs=bound.n_jobs)))

    def _gap(self, bound: LossOnData, scores: np.ndarray) -> np.ndarray:
        """By how much each query is above the baseline; 0 where there is nothing to measure."""
        return np.nan_to_num(self._good(bound, scores) - bound.constants[-1])

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        from scipy.special import ndtr

        gap = self._gap(bound, scores)
        adaptive, by_utility = RISKS[self.risk]
        extra = np.full(gap.size, float(self.alpha))
        if adaptive:
            extra *= 1.0 - ndtr(gap / self.deviation if self.deviation else np.zeros_like(gap))
        return self.lambdas(bound, scores, (gap, extra, by_utility))
