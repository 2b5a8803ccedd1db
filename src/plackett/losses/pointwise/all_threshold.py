"""All-threshold loss: a score is penalised at every threshold that it is on the wrong side of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.losses.pointwise.thresholds import ThresholdLoss

__all__ = ["AllThresholdLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AllThresholdLoss(ThresholdLoss):
    r"""All-threshold loss :math:`\sum_{k=1}^{K-1} \varphi(\pm(s - b_k))`, + where the grade is above the threshold.

    The further a score is from its grade, the more thresholds it has crossed, and the steeper the penalty. With a
    hinge it is the loss of support vector ordinal regression with implicit constraints; the best thresholds are
    always in order.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [0, 1, 2], qid=[1, 1, 1])
    >>> AllThresholdLoss(penalty="hinge")([3.0, 1.0, 3.0], data)  # 3.5 + 2.5, 0.5 + 0.5 and 0
    7.0

    References
    ----------
    Rennie and Srebro: Loss functions for preference levels: regression with discrete ordered labels. 2005.
    """

    name: ClassVar[str] = "AllThreshold"
    all_thresholds: ClassVar[bool] = True
    _test_variants = ({"cuts": (0.5, 1.5), "penalty": "hinge"}, {"cuts": (0.5, 2.5), "penalty": "squared_hinge"})
