"""ApproxAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.approx_ap import ApproxAPLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["ApproxAP"]


@dataclass(kw_only=True, eq=False, repr=False)
class ApproxAP(GradientTrained, Linear):
    """ApproxAP: a linear model that maximises average precision with smooth ranks (`plackett.losses.ApproxAPLoss`).

    The loss is not convex: the result is a local optimum that depends on the start (zero weights, or another model with
    `warm_start`).

    Parameters
    ----------
    steepness
        α of the smooth ranks.
    rank_steepness
        β of the comparison of two ranks.
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> ranker = ApproxAP().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "steepness": Real(1.0, 100.0, log=True)}

    steepness: float = 1.0
    rank_steepness: float = 1.0
    rel: float = 1.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return ApproxAPLoss(alpha=self.steepness, beta=self.rank_steepness, rel=self.rel)
