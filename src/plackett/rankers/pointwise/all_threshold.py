"""Ordinal regression with the all-threshold loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pointwise.all_threshold import AllThresholdLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["AllThreshold"]


@dataclass(kw_only=True, eq=False, repr=False)
class AllThreshold(GradientTrained, Linear):
    r"""Linear ordinal regression: a score is penalised at every threshold between grades that it is on the wrong side
    of.

    Weights and thresholds are learned together (`plackett.losses.AllThresholdLoss`); documents are ranked by the
    score. With the logistic penalty this is close to the proportional-odds model, with a hinge to support vector
    ordinal regression.

    Parameters
    ----------
    alpha
        Strength of the penalty, 10 by default, chosen on validation queries of several small sets (see "Defaults on
        small data" in the guide to rankers).
    penalty
        φ: ``"logistic"``, ``"squared_hinge"``, ``"hinge"``, ``"exponential"`` or ``"square"``.

    Examples
    --------
    >>> ranker = AllThreshold().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Rennie and Srebro: Loss functions for preference levels: regression with discrete ordered labels. 2005.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents
    _test_variants = ({"penalty": "hinge"},)

    alpha: float = 10.0
    penalty: str = "logistic"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return AllThresholdLoss(penalty=self.penalty, thresholds="learned")
