"""Square loss on the relevant documents and on the worst of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, finite_gains
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
from plackett.measures.gains import check_gain

__all__ = ["SubsetSquare"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SubsetSquare(Loss):
    r"""Regression on the relevant documents; of the others, only the one scored most too high is penalised:

    .. math:: \frac12 \sum_{y_j \ge \text{rel}} w_j (s_j - t(y_j))^2
              + \frac{u}{2} \max_{y_j < \text{rel}} w_j \max(0, s_j - \delta)^2

    An irrelevant document at the bottom of the list does no harm, however low its score. Where several are the worst,
    they share the gradient.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.
    target
        Target of the scores: ``"linear"`` (the label), ``"exp2"``, ``"binary"`` or a table label: target.
    over
        u, the cost of an irrelevant document above the level.
    level
        δ, the score up to which irrelevant documents are not penalised.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0, 0], qid=[1, 1, 1, 1])
    >>> SubsetSquare(over=10.0).gradient([0.0, -5.0, 0.5, 2.0], data)[0].tolist()
    [-1.0, 0.0, 0.0, 20.0]

    References
    ----------
    Cossock and Zhang: Subset ranking using regression. COLT 2006.
    """

    name: ClassVar[str] = "SubsetSquare"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"rel": 2.0, "over": 5.0, "level": -1.0},)

    rel: float = 1.0
    target: Any = "linear"
    over: float = 1.0
    level: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: SubsetSquare, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        self.target = finite_gains(data.labels, loss.target, loss.name)
        weight = judged_weight(self)
        self.relevant = np.where(data.labels >= loss.rel, weight, 0.0)
        self.others = loss.over * np.where(data.labels < loss.rel, weight, 0.0)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        query = self.data.query_of_row
        miss = scores - self.target
        excess = np.maximum(scores - self.loss.level, 0.0)
        cost = self.others * excess**2
        worst = np.zeros(self.data.n_queries)
        np.maximum.at(worst, query, cost)
        paying = (cost == worst[query]) & (cost > 0.0)
        share = self.others * paying / np.maximum(np.bincount(query, paying, self.data.n_queries), 1.0)[query]
        losses = sum_by_query(self.data, 0.5 * self.relevant * miss**2, value)
        if value:
            losses += 0.5 * worst
        return losses, self.relevant * miss + share * excess, self.relevant + share
