"""Shared rules of trainers with a proved gap: keep the best round, report its gap, and warn if it stays open.

One rule for all of them. The gap is (objective − bound) / objective for the weights that were kept; if training was
interrupted, the only known bound is 0, and the gap is 1. A warning is issued if the solver itself ended with a gap
above ``tol``, because of ``max_iter`` or rounding, but not if validation data or Ctrl-C ended it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError, PlackettWarning
from plackett.data.dataset import RankingDataset
from plackett.solvers.monitor import Monitor


@dataclass
class Trained:
    """Weights that were kept, and what is proved about them."""

    weights: np.ndarray
    objective: float = float("nan")
    gap: float = float("nan")
    n_iter: int = 0
    #: Whether validation data ended training.
    stopped: bool = False


def check_settings(C: float, tol: float, max_iter: int) -> None:
    """Reject invalid settings."""
    number("C", C, above=0, error=LossError)
    if not tol > 0 or max_iter < 1:
        raise LossError(f"tol={tol}, max_iter={max_iter}; give positive numbers")


def keep_best(
    kept: Trained,
    monitor: Monitor,
    valid_scores: Callable[[RankingDataset, np.ndarray], np.ndarray],
    *,
    by_parts: bool = False,
) -> Callable[[np.ndarray], bool]:
    """Callback for the end of a round: records it, keeps its weights if they are the best, and says whether to stop.

    ``valid_scores(valid, weights)`` scores the validation data or, with ``by_parts``, also a part of it.
    """

    def step(weights: np.ndarray) -> bool:
        kept.n_iter += 1
        # weights of 0 order nothing, but on few queries they may still look best
        better, kept.stopped = monitor.judge(
            lambda valid: valid_scores(valid, weights), may_keep=bool(weights.any()), by_parts=by_parts
        )
        if better:
            kept.weights = weights.copy()
        return kept.stopped

    return step


def relative_gap(objective: float, bound: float) -> float:
    """Upper bound on the distance from the minimum, relative to the objective (or the bound, if larger)."""
    size = max(abs(objective), abs(bound))
    return max(objective - bound, 0.0) / size if size > 0 else 0.0


def warn_of_open_gap(what: str, gap: float, tol: float, n_iter: int) -> None:
    """Warn if a solver that was not stopped could not close the gap."""
    if not gap <= tol:
        warnings.warn(
            f"{what} ended after {n_iter} rounds with a relative gap of {gap:.1e}, above tol={tol:g}; raise "
            "max_iter (where there is one) or tol, lower C, or scale the features",
            PlackettWarning,
            stacklevel=2,
        )
