"""Newton's method for concave likelihoods of scores, often invariant to a common shift."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: Relative residual at which conjugate gradients stop. It is small, because chains of items are badly conditioned.
_RESIDUAL = 1e-8
_HALVINGS = 60
#: Relative changes of a likelihood below this are rounding.
_ROUNDING = 1e-12


class Curvature(NamedTuple):
    """Minus the second derivative: its diagonal, and its product with a vector."""

    diagonal: np.ndarray
    times: Callable[[np.ndarray], np.ndarray]


def maximise(
    value: Callable[[np.ndarray], float],
    slope: Callable[[np.ndarray], tuple[np.ndarray, Curvature]],
    start: np.ndarray,
    *,
    level_free: bool,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int, float]:
    """The maximising scores, the number of steps, and the largest change of a score in the last step.

    Newton's equations are solved by conjugate gradients, so that no table of items × items is formed, and a step that
    does not raise the value enough is halved.

    Parameters
    ----------
    value, slope
        The concave function; its gradient and curvature.
    level_free
        Whether adding a constant to all scores changes nothing; if so, their mean is kept at 0.
    max_iter, tol
        Maximum number of steps, and the largest change of a score at which to stop.
    """
    scores = np.array(start, float)
    if level_free and scores.size:
        scores -= scores.mean()
    moved, height = np.inf, value(scores)
    for n_iter in range(max_iter):
        gradient, curvature = slope(scores)
        step = _solve(curvature, gradient)
        if level_free and step.size:
            step -= step.mean()
        rise = float(gradient @ step)
        for _ in range(_HALVINGS):
            reached = value(scores + step)
            if reached >= height + 1e-4 * rise - _ROUNDING * abs(height):
                break
            step, rise = 0.5 * step, 0.5 * rise
        else:  # no step improves any more: the rest is rounding
            return scores, n_iter, 0.0
        scores, height = scores + step, reached
        moved = float(np.abs(step).max(initial=0.0))
        if moved <= tol:
            return scores, n_iter + 1, moved
    return scores, max_iter, moved


def _solve(curvature: Curvature, gradient: np.ndarray) -> np.ndarray:
    """Newton's step by conjugate gradients, preconditioned by the diagonal."""
    from scipy.sparse.linalg import LinearOperator, cg

    n = gradient.size
    if not gradient.any():
        return np.zeros(n)
    inverse = 1.0 / np.maximum(curvature.diagonal, np.finfo(float).tiny ** 0.5)
    A = LinearOperator((n, n), matvec=curvature.times, dtype=float)
    M = LinearOperator((n, n), matvec=lambda x: inverse * x, dtype=float)
    step, _ = cg(A, gradient, rtol=_RESIDUAL, maxiter=20 * n + 100, M=M)
    return step if gradient @ step > 0 else inverse * gradient
