"""Linear support vector machines over pairs: half the squared length of the weights plus C times the loss."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._errors import LossError, PlackettWarning
from plackett.losses.pairwise._margin_pairs import MarginPairs
from plackett.models import cutting_plane, truncated_newton
from plackett.models._products import table_times, transposed_times
from plackett.models.base import Monitor

__all__ = ["LinearPairs", "Trained", "check_settings", "keep_best", "train", "warn_unless_proved"]


@dataclass
class LinearPairs:
    """C times the loss of pairs, by the weights of scaled features."""

    X: Any
    scale: np.ndarray
    pairs: MarginPairs
    C: float
    squared: bool
    n_jobs: int | None

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Score of each document."""
        return table_times(self.X, (weights / self.scale)[:, None], self.n_jobs)[:, 0]

    def pull_back(self, slopes: np.ndarray) -> np.ndarray:
        """Gradient for the weights from the gradient for the scores."""
        return transposed_times(self.X, slopes[:, None], self.n_jobs)[:, 0] / self.scale

    def evaluate(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Loss and its gradient for the scores."""
        value, slopes = self.pairs.evaluate(scores, self.squared)
        return self.C * value, self.C * slopes

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Product with the second derivative of the squared hinge at these scores."""
        times = self.pairs.curvature(scores)
        return lambda direction: self.C * times(direction)

    def objective(self, weights: np.ndarray) -> float:
        """Half the squared length plus the loss."""
        return 0.5 * float(weights @ weights) + self.evaluate(self.scores(weights))[0]


def _newton(problem: LinearPairs, tol: float, max_iter: int, step: Callable[[np.ndarray], bool]) -> Any:
    return truncated_newton.minimise(problem, problem.scale.size, tol=tol, max_iter=max_iter, monitor_step=step)


def _planes(problem: LinearPairs, tol: float, max_iter: int, step: Callable[[np.ndarray], bool]) -> Any:
    def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = problem.evaluate(problem.scores(weights))
        return value / problem.C, problem.pull_back(slopes) / problem.C

    return cutting_plane.minimise(risk, problem.scale.size, C=problem.C, tol=tol, max_iter=max_iter, monitor_step=step)


#: Solver of each loss, and whether the loss is squared.
_SOLVERS = {"squared_hinge": (_newton, True), "hinge": (_planes, False)}


@dataclass
class Trained:
    """Weights of the scaled features that were kept, and what is proved about them."""

    weights: np.ndarray
    objective: float = float("nan")
    gap: float = float("nan")
    n_iter: int = 0
    #: Whether validation data ended it.
    stopped: bool = False


def check_settings(C: float, loss: str, tol: float, max_iter: int) -> None:
    """Refuse what cannot be meant."""
    if loss not in _SOLVERS:
        raise LossError(f"loss={loss!r}; the losses are {', '.join(_SOLVERS)}")
    if not (C > 0 and np.isfinite(C)):
        raise LossError(f"C={C}; give a positive number")
    if not tol > 0 or max_iter < 1:
        raise LossError(f"tol={tol}, max_iter={max_iter}; give positive numbers")


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
    valid_X: Any,
    what: str,
    n_jobs: int | None,
) -> Trained:
    """Minimise ½‖w‖² + C Σ c·ξ (or ξ²) over weights of features divided by ``scale``.

    With validation data the weights of the best round are kept, and objective and gap are theirs.
    """
    check_settings(C, loss, tol, max_iter)
    solver, squared = _SOLVERS[loss]
    problem = LinearPairs(X, scale, pairs, C, squared, n_jobs)
    kept = Trained(np.zeros(scale.size))
    dual = 0.0  # no objective is below 0
    step = keep_best(kept, monitor, lambda weights: table_times(valid_X, (weights / scale)[:, None], n_jobs)[:, 0])
    with monitor.training(max_iter, what):
        solution = solver(problem, tol, max_iter, step)
        dual = solution.dual
        if kept.n_iter == 0:  # there was nothing to do
            step(solution.coef)
    kept.objective = problem.objective(kept.weights)
    warn_unless_proved(kept, dual, tol, max_iter, monitor, what)
    return kept


def keep_best(
    kept: Trained, monitor: Monitor, valid_scores: Callable[[np.ndarray], np.ndarray]
) -> Callable[[np.ndarray], bool]:
    """What to call after each round: notes it, keeps its weights where they are the best, says whether to end."""

    def step(weights: np.ndarray) -> bool:
        kept.n_iter += 1
        before = monitor.best_round
        scores = None if monitor.valid is None else valid_scores(weights)
        kept.stopped = monitor.update(scores)
        if scores is None or monitor.best_round != before:
            kept.weights = weights.copy()
        return kept.stopped

    return step


def warn_unless_proved(kept: Trained, dual: float, tol: float, max_iter: int, monitor: Monitor, what: str) -> None:
    """Set the gap from a lower bound of the objective; say so where the rounds did not suffice to close it."""
    kept.gap = (kept.objective - dual) / kept.objective if kept.objective > 0 else 0.0
    if kept.gap > tol and kept.n_iter >= max_iter and not kept.stopped and not monitor.interrupted:
        warnings.warn(
            f"{what} ended after max_iter={max_iter} rounds with a relative gap of {kept.gap:.1e}, above tol={tol:g}; "
            "raise max_iter, lower C, or scale the features",
            PlackettWarning,
            stacklevel=2,
        )
