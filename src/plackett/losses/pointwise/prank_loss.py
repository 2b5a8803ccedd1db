"""The loss that PRank descends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.losses.pointwise.thresholds import ThresholdLoss

__all__ = ["PRankLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class PRankLoss(ThresholdLoss):
    r"""Inherent loss of PRank: :math:`\sum_{r=1}^{K-1} \max(0, -y_r (s - b_r))`, :math:`y_r = \pm 1`.

    :math:`y_r` is + where the grade is above threshold r. A score is penalised by its distance on the wrong side of
    each threshold; no margin is required on the right side. With a subgradient :math:`-y_r` at 0, a step of PRank is a
    step of length 1 of stochastic subgradient descent on it, over weights and thresholds. Thresholds are given (or the
    cuts of the labels): with learned ones, equal scores and thresholds would cost nothing.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [0, 1, 2], qid=[1, 1, 1])
    >>> PRankLoss()([3.0, 1.0, 1.0], data)  # thresholds 0.5 and 1.5: 2.5 + 1.5, 0 and 0.5
    4.5

    References
    ----------
    Crammer and Singer: Pranking with ranking. NIPS 2001.
    """

    name: ClassVar[str] = "PRank"
    all_thresholds: ClassVar[bool] = True
    _test_variants = ({"cuts": (0.5, 1.5)},)

    penalty: str = "perceptron"
