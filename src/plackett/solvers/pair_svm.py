"""Linear support vector machines over pairs: half the squared length of the weights plus C times the loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array
from plackett.losses.pairwise.margin_pairs import MarginPairs
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers import cutting_plane, truncated_newton
from plackett.solvers.monitor import Monitor
from plackett.solvers.proved_gap import Trained, check_settings, keep_best, relative_gap, warn_of_open_gap


@dataclass
class LinearPairs:
    """C times the loss of pairs, by the weights of scaled features."""

    X: Any
    scale: np.ndarray
    pairs: MarginPairs
    C: float
    squared: bool
    n_jobs: int | None

    def per_document(self) -> np.ndarray:
        """Zeros, one for each document, on disk if the features are."""
        return row_array(self.X, (self.X.shape[0],))

    def scores(self, weights: np.ndarray, out: np.ndarray) -> None:
        """Write the score of each document."""
        table_times(self.X, (weights / self.scale)[:, None], self.n_jobs, out[:, None])

    def pull_back(self, slopes: np.ndarray) -> np.ndarray:
        """Gradient for the weights from the gradient for the scores."""
        return transposed_times(self.X, slopes[:, None], self.n_jobs)[:, 0] / self.scale

    def evaluate(self, scores: np.ndarray, slopes: np.ndarray) -> float:
        """Loss; its gradient for the scores is written to ``slopes``."""
        value, _ = self.pairs.evaluate(scores, self.squared, slopes)
        slopes *= self.C
        return self.C * value

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray, np.ndarray], Any]:
        """Product with the second derivative of the squared hinge at these scores."""
        times = self.pairs.curvature(scores)
        return lambda direction, out: np.multiply(times(direction, out), self.C, out=out)

    def objective(self, weights: np.ndarray) -> float:
        """Half the squared length plus the loss."""
        scores, slopes = self.per_document(), self.per_document()
        self.scores(weights, scores)
        return 0.5 * float(weights @ weights) + self.evaluate(scores, slopes)


def _newton(problem: LinearPairs, tol: float, max_iter: int, step: Callable[[np.ndarray], bool]) -> Any:
    return truncated_newton.minimise(problem, problem.scale.size, tol=tol, max_iter=max_iter, monitor_step=step)


def _planes(problem: LinearPairs, tol: float, max_iter: int, step: Callable[[np.ndarray], bool]) -> Any:
    scores, slopes = problem.per_document(), problem.per_document()

    def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
        problem.scores(weights, scores)
        value = problem.evaluate(scores, slopes)
        return value / problem.C, problem.pull_back(slopes) / problem.C

    return cutting_plane.minimise(risk, problem.scale.size, C=problem.C, tol=tol, max_iter=max_iter, monitor_step=step)


#: Solver of each loss, and whether the loss is squared.
_SOLVERS = {"squared_hinge": (_newton, True), "hinge": (_planes, False)}


def check_loss(loss: str) -> None:
    """Reject an unknown loss."""
    choice("loss", loss, _SOLVERS, error=LossError)


def train(
    X: Any,
    scale: np.ndarray,
    pairs: MarginPairs,
    *,
    C: float,
    loss: str,
    tol: float,
    max_iter: int,
    monitor: Monitor,
    what: str,
    n_jobs: int | None,
    valid_X: Any = None,
) -> Trained:
    """Minimise ½‖w‖² + C Σ c·ξ (or ξ²) over weights of features divided by ``scale``.

    With validation data the weights of the best round are kept, and objective and gap are theirs. ``valid_X`` are
    features of the validation data to use instead of their own.
    """
    check_loss(loss)
    check_settings(C, tol, max_iter)
    solver, squared = _SOLVERS[loss]
    problem = LinearPairs(X, scale, pairs, C, squared, n_jobs)
    kept = Trained(np.zeros(scale.size))
    dual = 0.0  # an objective is never below 0

    def valid_scores(part: RankingDataset, weights: np.ndarray) -> np.ndarray:
        return table_times(part.X if valid_X is None else valid_X, (weights / scale)[:, None], n_jobs)[:, 0]

    step = keep_best(kept, monitor, valid_scores, by_parts=valid_X is None)
    with monitor.training(max_iter, what):
        solution = solver(problem, tol, max_iter, step)
        dual = solution.dual
        if kept.n_iter == 0:  # there was nothing to do
            step(solution.coef)
    kept.objective = problem.objective(kept.weights)
    kept.gap = relative_gap(kept.objective, dual)
    if not (kept.stopped or monitor.interrupted):
        warn_of_open_gap(what, solution.gap, tol, kept.n_iter)
    return kept
