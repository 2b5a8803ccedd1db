"""RankCosine."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pointwise.cosine import Cosine
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["RankCosine"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankCosine(GradientTrained, Linear):
    r"""RankCosine: a linear model that minimises the angle between scores and labels, ½ − ½ cos(φ(y), φ(s)) per query.

    Every query counts the same however many documents it has. The original adds weak rankers one by one; any other
    model takes the same loss (`GradientRanker`, loss ``"Cosine"``).

    Parameters
    ----------
    transform
        φ: ``"exp"``, ``"logistic"`` or ``"linear"``.

    Examples
    --------
    >>> ranker = RankCosine().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Qin, Zhang, Tsai, Wang, Liu, Li: Query-level loss functions for information retrieval. Information Processing and
    Management 2008.
    """

    _test_variants = ({"transform": "linear"},)

    transform: str = "exp"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Cosine(transform=self.transform)
