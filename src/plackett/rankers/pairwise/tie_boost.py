"""Boosted trees on comparisons with ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett.losses.base import Loss
from plackett.losses.pairwise.rao_kupper import RaoKupper
from plackett.losses.pairwise.thurstone_mosteller import ThurstoneMosteller
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["TieBoost"]

#: Models of a comparison by name, each made from the half width of ties on the scale of the scores.
COMPARISONS = {
    "bradley-terry": lambda width, **rest: RaoKupper(theta=float(np.exp(width)), **rest),
    "thurstone": lambda width, **rest: ThurstoneMosteller(epsilon=width, **rest),
}


@dataclass(kw_only=True, eq=False, repr=False)
class TieBoost(GradientTrained, Trees):
    """TieBoost: boosted trees on the likelihood of comparisons, in which documents of equal labels tie.

    Pairs of equal labels, which other pairwise rankers ignore, pull their scores together
    (`plackett.losses.RaoKupper`, `plackett.losses.ThurstoneMosteller`).

    Parameters
    ----------
    comparison
        ``"bradley-terry"`` (logistic, with the ties of Rao and Kupper) or ``"thurstone"`` (normal).
    width
        How far apart the scores of tied documents may be.
    tie_weight
        Weight of a tied pair relative to one that is not. Most pairs of a long list are tied at the lowest label.
    normalize
        Divide each query's loss by the weight of its pairs, so that long lists do not dominate.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = TieBoost(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Zhou, Xue, Zha, Yu: Learning to rank with ties. SIGIR 2008.
    """

    comparison: str = "bradley-terry"
    width: float = 0.7
    tie_weight: float = 0.3
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        choice("comparison", self.comparison, COMPARISONS, error=LossError)
        rest = {"tie_weight": self.tie_weight, "normalize": self.normalize}
        return COMPARISONS[self.comparison](self.width, **rest)
