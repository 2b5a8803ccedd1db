"""Square loss on the relevant documents and on the worst of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.losses.base import Loss, LossOnData, finite_gains
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

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Targets, and the weights of relevant documents and of others."""
        labels, weight = bound.data.labels, judged_weight(bound)
        relevant = np.where(labels >= self.rel, weight, 0.0)
        others = self.over * np.where(labels < self.rel, weight, 0.0)
        return finite_gains(labels, self.target, self.name), relevant, others

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        target, relevant, others = bound.constants
        query, n_queries = bound.data.query_of_row, bound.data.n_queries
        miss = scores - target
        excess = np.maximum(scores - self.level, 0.0)
        cost = others * excess**2
        worst = np.zeros(n_queries)
        np.maximum.at(worst, query, cost)
        paying = (cost == worst[query]) & (cost > 0.0)
        share = others * paying / np.maximum(np.bincount(query, paying, n_queries), 1.0)[query]
        losses = sum_by_query(bound.data, 0.5 * relevant * miss**2 if value else None)
        if value:
            losses += 0.5 * worst
        return losses, relevant * miss + share * excess, relevant + share
