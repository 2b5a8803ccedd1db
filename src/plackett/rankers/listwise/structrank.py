"""StructRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.structrank import StructRankLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["StructRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class StructRank(GradientTrained, Linear):
    """StructRank: a linear model that maximises the joint likelihood of all preferences of a query.

    Preferences that share their winner are judged jointly by a cumulative distribution network
    (`plackett.losses.StructRankLoss`).

    Parameters
    ----------
    structure
        Which preferences are judged jointly: ``"edges"`` (every two of a winner), ``"all"`` (every two of a query),
        ``"document"`` (all of a winner) or ``"edge"`` (each alone, as in RankNet).
    theta
        Weights of the two margins.
    max_edges
        Most preferences of a winner (of a query, under ``"all"``) that are all paired; beyond that, a sample is drawn.

    Examples
    --------
    >>> ranker = StructRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Huang, Frey: Structured ranking learning using cumulative distribution networks. NIPS 2008.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    structure: str = "edges"
    theta: tuple[float, float] = (1.0, 1.0)
    max_edges: int = 48

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return StructRankLoss(
            structure=self.structure,
            theta=self.theta,
            max_edges=self.max_edges,
            random_state=self.random_state or 0,
        )
