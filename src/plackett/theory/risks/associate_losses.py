"""Losses of associates: any loss, measure or true loss in the form that risks use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.associates import ASSOCIATES
from plackett.losses.base import Loss
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.pair_zero_one import PairZeroOne
from plackett.theory.risks.permutation_zero_one import PermutationZeroOne

__all__ = ["MeasureLoss"]

#: The associate of a loss by its approach.
_BY_APPROACH = {"pointwise": "document", "pairwise": "pair", "listwise": "list"}


@dataclass(frozen=True)
class LibraryLoss(AssociateLoss):
    """A loss of the library or of a user, computed by its own kernel."""

    loss: Loss
    associate: str
    scale: float = 1.0

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """Sum over the labelled associates of each query."""
        bound = self.loss.bind(data)
        return self.scale * bound.evaluate(bound.check(scores))[0]


@dataclass(frozen=True)
class MeasureLoss(AssociateLoss):
    """One minus a measure of a list, or the measure itself if smaller is better; NaN where it is undefined.

    >>> from plackett.measures import AP
    >>> data = RankingDataset.from_arrays(None, [0, 1])
    >>> MeasureLoss(AP).sums(np.array([1.0, 0.0]), data).tolist()
    [0.5]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 15.3.3.
    """

    measure: Measure
    associate = "list"
    largest = 1.0

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """One minus the measure of each query."""
        values = self.measure.per_query(Scored(data, scores))
        return 1.0 - values if self.measure.ascending else values


def as_associate_loss(loss: Any, *, tie: str = "none", associate: str | None = None) -> AssociateLoss:
    """Convert a loss to the form that risks use.

    Parameters
    ----------
    loss
        A true loss of this package, a loss of the library or a user's own (`plackett.loss`), a measure or its name
        (one minus it), or ``"pairwise 0-1"``, ``"permutation 0-1"``.
    tie
        What a pair of equal scores costs in ``"pairwise 0-1"``: ``"none"``, ``"half"`` or ``"loss"``.
    associate
        What a loss is summed over, if the library does not know: ``"document"``, ``"pair"`` or ``"list"``. By default
        a user's own loss is a loss of lists.

    Examples
    --------
    >>> from plackett.losses import Hinge
    >>> as_associate_loss(Hinge()).associate, as_associate_loss("nDCG@5").associate
    ('pair', 'list')
    """
    if isinstance(loss, AssociateLoss):
        return loss
    if isinstance(loss, str):
        named = {"pairwise 0-1": lambda: PairZeroOne(tie), "permutation 0-1": PermutationZeroOne}
        loss = named[loss]() if loss in named else parse(loss)
        return loss if isinstance(loss, AssociateLoss) else MeasureLoss(loss)
    if isinstance(loss, Measure):
        return MeasureLoss(loss)
    if not isinstance(loss, Loss):
        raise DataError(f"{loss!r} is neither a loss nor a measure")
    if not loss.has_value:
        raise LossError(f"{loss.name} is a gradient without a value: it has no risk")
    if associate is None:
        associate = _BY_APPROACH[loss.approach]
    choice("associate", associate, ASSOCIATES)
    if getattr(loss, "normalize", False):
        loss = loss.replace(normalize=False)  # the risk divides by the number of pairs itself
    return LibraryLoss(loss, associate)


def pair_values(loss: AssociateLoss, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Loss of explicit pairs of documents, each a row of two scores and two labels.

    >>> pair_values(as_associate_loss("pairwise 0-1"), np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]])).tolist()
    [1.0]
    """
    n = scores.shape[0]
    data = RankingDataset.from_arrays(None, np.ravel(labels), np.repeat(np.arange(n), 2))
    return loss.sums(np.ascontiguousarray(scores, np.float64).ravel(), data)
