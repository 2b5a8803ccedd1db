"""P-norm push by boosting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.pairwise.pnorm_push import PNormPushLoss
from plackett.rankers.pairwise._pair_boosting import PairBoosting, Round, root
from plackett.solvers.monitor import Monitor

__all__ = ["PNormPushBoost"]

#: Weight, as a share of all pairs, of two pairs that are added to every step, one right and one wrong.
_SMOOTHING = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class PNormPushBoost(PairBoosting):
    r"""P-norm push by coordinate descent: a sum of weak rankers that keeps bad documents away from the top.

    Descends :math:`\sum_v \big(\sum_{u:\,y_u > y_v} e^{-(s_u - s_v)}\big)^p` (`plackett.losses.PNormPushLoss`) as
    RankBoost descends the exponential loss, which is p = 1. A pair weighs :math:`e^{-(s_u - s_v)} \big(\sum_{u'}
    e^{-(s_{u'} - s_v)}\big)^{p-1}`: pairs with a bad document at the top count most. Each round takes the weak ranker
    with the largest edge and the best step along it, in time linear in the number of documents. `PNormPush` has the
    same objective for linear models.

    Parameters
    ----------
    p
        The power, at least 1: the larger p is, the more the worst documents at the top dominate.
    normalize
        Take means instead of sums in each query, so that long lists do not dominate.

    Examples
    --------
    >>> ranker = PNormPushBoost(n_estimators=3).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[0.2], [1.8]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Rudin: The P-norm push: a simple convex ranking algorithm that concentrates at the top of the list. JMLR 2009.
    """

    takes_preferences: ClassVar[bool] = False

    p: float = 4.0
    normalize: bool = True

    def _make_loss(self) -> Loss:
        return PNormPushLoss(p=self.p, normalize=self.normalize)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if data.preferences is not None:
            raise LossError("PNormPushBoost needs labels and does not support preferences; use RankBoost")
        super()._fit(data, monitor)

    def _pair_weight(self, start: float, value: float) -> float:
        return self.p * value

    def _step(self, round: Round) -> float:
        def slope(alpha: float) -> float:
            return round.along(alpha)[1] / round.total + 2.0 * _SMOOTHING * math.sinh(alpha)

        return root(slope, direction=round.weak.edge)
