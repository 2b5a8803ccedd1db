"""Immediate-threshold loss: a score outside the interval of its grade is penalised at the ends of that interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.losses.pointwise.thresholds import ThresholdLoss

__all__ = ["ImmediateThresholdLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ImmediateThresholdLoss(ThresholdLoss):
    r"""Immediate-threshold loss :math:`\varphi(s - b_{y-1}) + \varphi(b_y - s)`: the two thresholds around the grade.

    Thresholds beyond the lowest and the highest grade do not exist. With a hinge it is the loss of large-margin ordinal
    regression with a fixed margin.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [0, 1, 2], qid=[1, 1, 1])
    >>> ImmediateThresholdLoss(penalty="hinge")([3.0, 1.0, 3.0], data)  # 3.5, 0.5 + 0.5 and 0
    4.5

    References
    ----------
    Rennie and Srebro: Loss functions for preference levels: regression with discrete ordered labels. 2005.
    """

    name: ClassVar[str] = "ImmediateThreshold"
    all_thresholds: ClassVar[bool] = False
    _test_variants = ({"cuts": (0.5, 1.5), "penalty": "hinge"}, {"cuts": (1.0,), "penalty": "square"})
