"""ApproxNDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["ApproxNDCG"]


@dataclass(kw_only=True, eq=False, repr=False)
class ApproxNDCG(GradientTrained, Linear):
    """ApproxNDCG: a linear model that maximises nDCG with smooth ranks (`plackett.losses.ApproxNDCGLoss`).

    The loss is not convex: the result is a local optimum that depends on the start (zero weights, or another model with
    `warm_start`).

    Parameters
    ----------
    steepness
        α of the smooth ranks.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.

    Examples
    --------
    >>> ranker = ApproxNDCG().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "steepness": Real(1.0, 100.0, log=True)}

    steepness: float = 10.0
    gain: Any = "exp2"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return ApproxNDCGLoss(alpha=self.steepness, gain=self.gain)
