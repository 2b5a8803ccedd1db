"""Squared hinge pair loss with the curvature of a quadratic bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss
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
    sweep = staticmethod(SquaredHinge.sweep)

    margin: float = 1.0

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: QuadraticBound, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        plain = SquaredHinge(margin=loss.margin, normalize=loss.normalize)
        self.hinge = plain.bind(data, n_jobs=n_jobs)
        # at equal scores and a margin above 0 every pair is violated, and each has a curvature of 2
        everyone = data if data.preferences is None else _without_margins(data)
        far = plain.replace(margin=1.0).bind(everyone, n_jobs=n_jobs)
        self.bounds = 2.0 * far.evaluate(np.zeros(data.n_rows), value=False)[2]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient per score, and the curvature of the bound."""
        losses, gradient, _ = self.hinge.evaluate(scores, value)
        return losses, gradient, self.bounds.copy()


def _without_margins(data: RankingDataset) -> RankingDataset:
    assert data.preferences is not None
    return data.replace(preferences=replace(data.preferences, margin=None))
