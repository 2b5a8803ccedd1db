"""GBRank: boosted trees on regression targets that correct violated pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise.squared_hinge import SquaredHinge
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained
from plackett.scorers.divided import DividedScorer
from plackett.solvers.monitor import Monitor

__all__ = ["GBRank"]

#: By what the sum of the trees is divided after t rounds, and by what a tree is multiplied in round t.
UPDATES: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "blend": (lambda t, eta: (1.0 + eta) ** t, lambda t, eta: (1.0 + eta) ** t),
    "average": (lambda t, eta: t + 1.0, lambda t, eta: 1.0),
}
#: LightGBM keeps gradients in single precision, which e to this does not overflow.
_LARGEST_EXPONENT = 80.0


@dataclass(kw_only=True, eq=False, repr=False)
class GBRank(GradientTrained, Trees):
    r"""GBRank: each round fits a tree to targets that would correct the violated pairs.

    A pair :math:`y_u > y_v` is violated where :math:`f_u < f_v + \tau`; its targets are :math:`f_v + \tau` at u and
    :math:`f_u - \tau` at v, which is f less the gradient of :math:`\tfrac12 \max(0, \tau - (f_u - f_v))^2`. The targets
    of a document are averaged, its weight is the number of its violated pairs, and documents without violated pairs are
    left out. The tree g joins the others by

    ============= ====================================================================
    ``update``    new f after round t = 1, 2, …
    ============= ====================================================================
    ``"newton"``  :math:`f + \eta\,g'` with g' fitted to the targets less f
    ``"blend"``   :math:`(f + \eta\,g)/(1 + \eta)`
    ``"average"`` :math:`(t f + \eta\,g)/(t + 1)`
    ============= ====================================================================

    with η the ``learning_rate``. The first is gradient boosting with Newton steps, which never forgets a tree; the
    second is the algorithm as given in textbooks, the third as first published.

    Parameters
    ----------
    tau
        Margin by which the better document should lead. Must be positive: with 0 nothing is violated at the start.
    update
        How a tree joins the others.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = GBRank(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Zheng, Chen, Sun, Zha: A regression framework for learning ranking functions using relative relevance judgments.
    SIGIR 2007.
    """

    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Real(0.02, 0.2, log=True),
        "num_leaves": Integer(4, 32, log=True),
        "tau": Real(0.3, 3.0, log=True),
    }

    tau: float = 1.0
    update: str = "newton"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        if not self.tau > 0:
            raise LossError(f"tau={self.tau}; give a positive number, with 0 nothing is violated at the start")
        hinge = SquaredHinge(margin=self.tau)
        if self.update == "newton":
            return hinge
        if self.update not in UPDATES:
            raise LossError(f"update={self.update!r}; the updates are newton, {', '.join(UPDATES)}")
        if self.boosting != "gbdt":
            raise LossError(f"update={self.update!r} rescales earlier trees; it needs boosting='gbdt'")
        return Targets(hinge=hinge, update=self.update, learning_rate=self.learning_rate)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        start = self.start()
        before = 0 if start is None else start.booster.current_iteration()
        loss = self.make_loss()
        if isinstance(loss, Targets):
            loss = loss.replace(first_round=before)
            rounds = before + self.n_estimators
            if self.update == "blend" and rounds * np.log1p(self.learning_rate) > _LARGEST_EXPONENT:
                raise LossError(
                    f"update='blend' counts the first of {rounds} trees (1 + learning_rate)^-{rounds} as much as the "
                    "last, which is nothing; use fewer trees, a smaller learning_rate or another update"
                )
        trees = self.train(loss, data, monitor, start if before else None)
        self.scorer_ = trees
        if isinstance(loss, Targets):
            divisor = UPDATES[self.update][0](trees.booster.current_iteration(), self.learning_rate)
            self.scorer_ = DividedScorer(trees, divisor)


@dataclass(frozen=True, kw_only=True, repr=False)
class Targets(Loss):
    """Targets of GBRank as a loss whose Newton step is the weighted mean of the targets in a leaf.

    The trees add up to the ranking function times a number that grows with the rounds, since earlier trees cannot be
    scaled down; a bound loss counts the rounds.
    """

    name: ClassVar[str] = "GBRank"
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    counts_rounds: ClassVar[bool] = True

    hinge: SquaredHinge
    update: str
    learning_rate: float
    first_round: int = 0

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The targets on one dataset."""
        return _BoundTargets(self, data, n_jobs)


class _BoundTargets(BoundLoss):
    def __init__(self, loss: Targets, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        self.hinge = loss.hinge.bind(data, n_jobs=n_jobs)
        self.round = loss.first_round

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """No value; minus weight times target of each document, and the weights. Every call is a round."""
        divisor, factor = (part(self.round, self.loss.learning_rate) for part in UPDATES[self.loss.update])
        self.round += 1
        current = scores / divisor
        losses, gradient, weight = self.hinge.evaluate(current, value=False)
        return np.zeros_like(losses), (gradient - weight * current) * factor, weight
