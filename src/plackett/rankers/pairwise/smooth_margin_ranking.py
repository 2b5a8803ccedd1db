"""Smooth-margin ranking."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plackett.losses.pairwise.base import PairLoss
from plackett.losses.pairwise.exponential import Exponential
from plackett.rankers.pairwise._pair_boosting import PairBoosting, Round, root

__all__ = ["SmoothMarginRanking"]

#: The edge must be this much above the smooth margin for a step.
_CONVERGED = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class SmoothMarginRanking(PairBoosting):
    r"""Smooth-margin ranking: boosting that maximises the smallest margin of a pair, which RankBoost does not.

    The margin of a pair is :math:`(s_u - s_v) / \lVert\alpha\rVert_1`. With the exponential pair loss
    :math:`F = \sum_{(u, v)} e^{-(s_u - s_v)}` the smooth margin

    .. math:: G(\alpha) = \frac{-\log F(\alpha)}{\lVert\alpha\rVert_1}, \qquad
              G \le \min_{(u, v)} \frac{s_u - s_v}{\lVert\alpha\rVert_1} \le G + \frac{\log m}{\lVert\alpha\rVert_1}

    (m pairs of weight 1) tends to the smallest margin as α grows. As long as :math:`F \ge 1`, each round is a round of
    RankBoost with its exact step. After that, the step along the weak ranker with the largest edge maximises G; it is
    found exactly, since the numerator is concave along it and the denominator linear. If the pairs cannot all be
    ordered correctly, F never falls below 1 and the ranker is RankBoost.

    Explicit preferences replace the pairs of unequal labels, weights multiply the terms of F, and a missing
    value (NaN) is an abstention as in `RankBoost`.

    Examples
    --------
    >>> ranker = SmoothMarginRanking().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> (ranker.predict([[0.0], [1.0], [2.0]], qid=[1, 1, 1]) / ranker.rounds_["alpha"].sum()).round(2)
    array([0. , 0.5, 1. ])

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.
    """

    def _make_loss(self) -> PairLoss:
        return Exponential()

    def _step(self, round: Round) -> float:
        if round.value >= 1.0 or round.norm == 0.0:
            # two more pairs of a millionth of the weight, one right and one wrong, keep the step finite
            return root(lambda a: round.along(a)[1] / round.total + 2e-6 * math.sinh(a), direction=round.weak.edge)
        sign = math.copysign(1.0, round.weak.edge)

        def excess(step: float) -> float:
            """‖α‖ times the gap between smooth margin and edge, an increasing function of the step."""
            value, slope = round.along(sign * step)
            return -math.log(value) + sign * slope / value * (round.norm + step)

        if excess(0.0) >= -_CONVERGED * round.norm:
            return 0.0
        return sign * root(excess, direction=1.0)
