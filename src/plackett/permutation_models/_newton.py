"""Newton's method for concave likelihoods of scores, of which often only the differences matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Curvature", "maximise"]

#: Share of the gradient that conjugate gradients leave: chains of items are badly conditioned, so it is small.
_RESIDUAL = 1e-8
_HALVINGS = 60
#: Changes of a likelihood below this share of it are rounding.
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
    """The scores of the largest value, the number of steps, and the largest change of a score in the last one.

    Newton's equations are solved by conjugate gradients, so that no table of items × items is formed, and a step that
    does not raise the value enough is halved.

    Parameters
    ----------
    value, slope
        The concave function; its gradient and curvature.
    level_free
        Whether a constant added to all scores changes nothing; they are kept at mean 0 then.
    max_iter, tol
        Most steps, and the largest change of a score at which to end.
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
        else:  # no step is up any more: what is left is rounding
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
