"""ListMLE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["ListMLE"]


@dataclass(kw_only=True, eq=False, repr=False)
class ListMLE(GradientTrained, Linear):
    """ListMLE: a linear model that makes the ideal order likely under the Plackett–Luce model.

    Documents with equal labels are not ordered among themselves (see `plackett.losses.ListMLELoss`).

    Parameters
    ----------
    k
        Only the first k ranks of the ideal order count; None uses all.
    discount
        Weight of each rank, so that the top counts more: ``"none"``, ``"log2"``, ``"letor"``, ``"reciprocal"`` or a
        list of weights.

    Examples
    --------
    >>> ranker = ListMLE().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    k: int | None = None
    discount: Any = "none"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return ListMLELoss(k=self.k, discount=self.discount)
