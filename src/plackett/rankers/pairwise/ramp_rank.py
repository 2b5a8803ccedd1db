"""RampRank: a linear ranker on the ramp pair loss, by a sequence of convex problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.blocks import bind_in_blocks
from plackett.losses.pairwise.hinge import Hinge
from plackett.losses.pairwise.ramp import Ramp
from plackett.models.linear import LinearObjective, lbfgs
from plackett.rankers.pairwise._refined import Refined
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["RampRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class RampRank(Refined):
    r"""RampRank: a linear ranker that gives up on pairs that are far out of order.

    The ramp :math:`H_1(z) - H_{1-\text{height}}(z)` with :math:`H_a(z) = \max(0, a - z)` (`plackett.losses.Ramp`) is a
    difference of two convex functions. Each round replaces the second one by its tangent at the current scores, which
    removes the gradient of pairs beyond the ramp, and minimises the convex remainder (the concave–convex procedure).
    The objective decreases in every round; training stops when a round lowers it by less than ``tol``.

    Parameters
    ----------
    height
        Largest loss of a pair.
    max_rounds
        Maximum number of convex problems.

    Examples
    --------
    >>> ranker = RampRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Collobert, Sinz, Weston, Bottou: Trading convexity for scalability. ICML 2006.
    """

    effort: ClassVar[str | None] = "max_rounds"  # `max_iter` is that of each round

    height: float = 2.0
    max_rounds: int = 20

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Ramp(height=self.height, normalize=self.normalize)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole("max_rounds", self.max_rounds, least=1, error=LossError)
        problem = LinearObjective(self, self.make_loss(), data)
        ramp = problem.bound
        weights = problem.start(self._start(data))
        value = self._objective(problem, weights, ramp)
        best = weights
        with monitor.training(self.max_rounds, "Ramp · CCCP"):
            for _ in range(self.max_rounds):
                problem.bound = _Tangent(self, data, problem.own_scores(weights))
                moved = lbfgs(problem, weights, SilentMonitor())
                lower = self._objective(problem, moved, ramp)
                ended = not lower < value - self.tol * abs(value)
                if lower < value:
                    weights, value = moved, lower
                keep, stop = problem.note(monitor, weights)
                if keep:
                    best = weights
                if ended or stop:
                    break
        self.scorer_ = problem.scorer(best)

    def _objective(self, problem: LinearObjective, weights: np.ndarray, loss: BoundLoss) -> float:
        """Loss and penalty, as the linear model has them."""
        kept = problem.penalised(weights)
        penalty = self.l1_ratio * np.abs(kept).sum() + 0.5 * (1.0 - self.l1_ratio) * (kept**2).sum()
        losses = loss.evaluate(problem.own_scores(weights))[0]
        return float(losses.sum() / problem.total + self.alpha * penalty)


class _Tangent(BoundLoss):
    """The convex problem of a round: the first hinge, and the tangent of minus the second at the current scores."""

    def __init__(self, ranker: RampRank, data: RankingDataset, scores: np.ndarray) -> None:
        self.data, self.n_jobs, self.n_outputs = data, ranker.n_jobs, 1
        hinge = Hinge(margin=1.0, normalize=ranker.normalize)
        far = bind_in_blocks(hinge.replace(margin=1.0 - ranker.height), data, ranker.n_jobs)
        self.hinge = bind_in_blocks(hinge, data, ranker.n_jobs)
        self.query_weight = self.hinge.query_weight
        slope = far.evaluate(scores, value=False)[1]
        self.slope = np.negative(slope, out=slope)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        losses, gradient, curvature = self.hinge.evaluate(scores, value)
        for lo, hi in query_blocks(self.data.offsets):
            rows = slice(self.data.offsets[lo], self.data.offsets[hi])
            query = np.repeat(np.arange(hi - lo), self.data.group[lo:hi])
            losses[lo:hi] += np.bincount(query, self.slope[rows] * scores[rows], hi - lo)
        gradient += self.slope
        return losses, gradient, curvature
