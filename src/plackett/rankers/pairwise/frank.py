"""FRank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise.fidelity import Fidelity
from plackett.rankers.pairwise._fidelity_slopes import right_and_wrong_slope
from plackett.rankers.pairwise._pair_boosting import PairBoosting, Round
from plackett.rankers.pairwise._weak_rankers import WeakRanker
from plackett.solvers.monitor import Monitor

__all__ = ["FRank"]

#: Slope of the fidelity loss divided by its value where a pair is tied: ½ · √½ · ½ and 1 − √½.
_SLOPE_OF_TIES = 0.25 * math.sqrt(0.5) / (1.0 - math.sqrt(0.5))
#: A weak ranker without a mistake would have an infinite coefficient; it counts as having this share of mistakes.
_SMOOTHING = 1e-6
#: Maximum number of times to halve a step that does not lower the loss.
_MOST_HALVINGS = 30


@dataclass(kw_only=True, eq=False, repr=False)
class FRank(PairBoosting):
    r"""FRank: a sum of weak rankers of one feature each, by greedy descent on the fidelity loss.

    The loss of a pair "u before v" is :math:`1 - \sqrt{P}`, :math:`P = 1/(1 + e^{-(s_u - s_v)})`
    (`plackett.losses.Fidelity`). It is at most 1, so hopeless pairs have little influence. Each round takes the
    features with the steepest descent, each with its best threshold, gives each the coefficient

    .. math:: \alpha = \tfrac12 \log \frac{W_+}{W_-}, \quad
              W_\pm = \sum_{(u, v)} w_{uv}\, \tfrac12 e^{-(s_u - s_v)} (1 + e^{-(s_u - s_v)})^{-3/2}\,
              [h(u) - h(v) = \pm 1],

    and keeps the one that lowers the loss most. The coefficient is only the first step of a search for the minimum; if
    it does not lower the loss, it is halved until it does. For a missing value (NaN) the weak ranker abstains: the
    search decides for each weak ranker whether that counts as 0 or 1. Explicit preferences replace the pairs of unequal
    labels.

    Parameters
    ----------
    n_candidates
        Number of features whose resulting loss is compared in each round; each costs a pass over the pairs. 1 takes the
        steepest.
    tol
        Stop when a round lowers the mean pair loss by less than this fraction.
    normalize
        Give each query the same weight, instead of each pair.

    Examples
    --------
    >>> ranker = FRank(n_estimators=3).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[0.2], [1.8]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Tsai, Liu, Qin, Chen, Ma: FRank: a ranking method with fidelity loss. SIGIR 2007.
    """

    n_candidates: int = 1
    tol: float = 1e-6
    normalize: bool = True

    def _make_loss(self) -> Loss:
        return Fidelity(normalize=self.normalize)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.n_candidates < 1 or not self.tol >= 0:
            raise LossError(f"FRank: n_candidates={self.n_candidates}, tol={self.tol}; give 1 or more, and 0 or more")
        super()._fit(data, monitor)

    def _pair_weight(self, start: float, value: float) -> float:
        return start * _SLOPE_OF_TIES

    def _choose(self, search: Any, potential: np.ndarray, X: Any, bound: BoundLoss, scores: np.ndarray) -> WeakRanker:
        candidates: list[WeakRanker] = search.candidates(potential, self.n_candidates)
        if len(candidates) == 1:
            return candidates[0]
        values = []
        for weak in candidates:
            h = weak.values(X)
            values.append(float(bound.evaluate(scores + _coefficient(bound, scores, h) * h)[0].sum()))
        return candidates[int(np.argmin(values))]

    def _step(self, round: Round) -> float:
        alpha = _coefficient(round.bound, round.scores, round.h)
        for _ in range(_MOST_HALVINGS):
            if round.along(alpha)[0] <= round.value * (1.0 - self.tol):
                return alpha
            alpha *= 0.5
        return 0.0


def _coefficient(bound: BoundLoss, scores: np.ndarray, h: np.ndarray) -> float:
    right, wrong = right_and_wrong_slope(bound, scores, h)
    little = _SMOOTHING * (right + wrong)
    return 0.5 * math.log((right + little) / (wrong + little)) if little > 0.0 else 0.0
