"""Squared hinge pair loss with the curvature of a quadratic bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, LossOnData
from plackett.losses.pairwise.base import PairLoss
from plackett.losses.pairwise.squared_hinge import SquaredHinge

__all__ = ["QuadraticBound"]


@dataclass(frozen=True, kw_only=True, repr=False)
class QuadraticBound(PairLoss):
    r"""Squared hinge pair loss with a curvature that bounds the loss from above, the loss of QBRank.

    Value and gradient are those of `SquaredHinge`. The curvature of a document is :math:`c_i = 4 \sum w_{uv}` over
    **all** pairs it is in, violated or not, and for every step δ

    .. math:: L(s + \delta) \le L(s) + g^\top \delta + \tfrac12 \sum_i c_i \delta_i^2,

    so that a Newton step never increases the loss. (A satisfied pair may be violated after the step; counting only
    the violated ones, as `SquaredHinge` does, takes longer steps without that guarantee.)

    References
    ----------
    Zheng, Zha, Zhang, Chapelle, Chen, Sun: A general boosting method and its application to learning ranking functions
    for web search. NIPS 2007.
    """

    name: ClassVar[str] = "QuadraticBound"
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"margin": 0.3, "normalize": True},)
    phi = staticmethod(SquaredHinge.phi)
    kernel = staticmethod(SquaredHinge.kernel)

    margin: float = 1.0

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        return LossOnData(self, data, n_jobs)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The squared hinge, and the curvature of its bound."""
        data = bound.data
        plain = SquaredHinge(margin=self.margin, normalize=self.normalize)
        # at equal scores and a margin above 0 every pair is violated, and each has a curvature of 2
        everyone = data if data.preferences is None else _without_margins(data)
        far = plain.replace(margin=1.0).bind(everyone, n_jobs=bound.n_jobs)
        return plain.bind(data, n_jobs=bound.n_jobs), 2.0 * far.evaluate(np.zeros(data.n_rows), value=False)[2]

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Those of the squared hinge, with the curvature of the bound."""
        hinge, bends = bound.constants
        losses, gradient, _ = hinge.evaluate(scores, value)
        return losses, gradient, bends.copy()


def _without_margins(data: RankingDataset) -> RankingDataset:
    assert data.preferences is not None
    return data.replace(preferences=replace(data.preferences, margin=None))
