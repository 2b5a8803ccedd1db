"""What trainers with a proved gap share: the best round is kept, its gap is told, and one that stays open warned of.

One rule for all of them. The gap is (objective − bound) / objective for the weights that were kept; where training was
interrupted no bound is known but 0, and the gap is 1. A warning comes where the solver ended with a gap above ``tol``
by itself, because of ``max_iter`` or rounding, and not where validation data or Ctrl-C ended it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._errors import LossError, PlackettWarning
from plackett.solvers.monitor import Monitor

__all__ = ["Trained", "check_settings", "keep_best", "relative_gap", "warn_of_open_gap"]


@dataclass
class Trained:
    """Weights that were kept, and what is proved about them."""

    weights: np.ndarray
    objective: float = float("nan")
    gap: float = float("nan")
    n_iter: int = 0
    #: Whether validation data ended it.
    stopped: bool = False


def check_settings(C: float, tol: float, max_iter: int) -> None:
    """Refuse what cannot be meant."""
    if not (C > 0 and np.isfinite(C)):
        raise LossError(f"C={C}; give a positive number")
    if not tol > 0 or max_iter < 1:
        raise LossError(f"tol={tol}, max_iter={max_iter}; give positive numbers")


def keep_best(
    kept: Trained, monitor: Monitor, valid_scores: Callable[[np.ndarray], np.ndarray]
) -> Callable[[np.ndarray], bool]:
    """What to call after each round: notes it, keeps its weights where they are the best, says whether to end."""

    def step(weights: np.ndarray) -> bool:
        kept.n_iter += 1
        better, kept.stopped = monitor.judge(lambda valid: valid_scores(weights))
        if better:
            kept.weights = weights.copy()
        return kept.stopped

    return step


def relative_gap(objective: float, bound: float) -> float:
    """By which share of the objective (or of the bound, where that is larger) it may be above the minimum."""
    size = max(abs(objective), abs(bound))
    return max(objective - bound, 0.0) / size if size > 0 else 0.0


def warn_of_open_gap(what: str, gap: float, tol: float, n_iter: int) -> None:
    """Say so where a solver that was not stopped could not close the gap."""
    if not gap <= tol:
        warnings.warn(
            f"{what} ended after {n_iter} rounds with a relative gap of {gap:.1e}, above tol={tol:g}; raise "
            "max_iter (where there is one) or tol, lower C, or scale the features",
            PlackettWarning,
            stacklevel=2,
        )
