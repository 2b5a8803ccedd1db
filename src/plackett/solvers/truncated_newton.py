"""Truncated Newton steps: a squared length plus a smooth convex loss of the scores, to a proved gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from plackett.solvers.proved_gap import relative_gap

#: Systems are solved to this share of the gradient: a smaller residual does not help where the curvature jumps.
_FORCING = 0.1
_LINE_STEPS = 30
#: A step is long enough when the slope along it has fallen to this share.
_SLOPE_LEFT = 0.5


class ScoreLoss(Protocol):
    """A convex loss of scores that are linear in the weights.

    Values per document are written to arrays from `per_document`, which may be on disk.
    """

    def per_document(self) -> np.ndarray:
        """Zeros, one for each document."""

    def scores(self, weights: np.ndarray, out: np.ndarray) -> None:
        """Write the score of each document."""

    def pull_back(self, slopes: np.ndarray) -> np.ndarray:
        """Gradient for the weights from the gradient for the scores."""

    def evaluate(self, scores: np.ndarray, slopes: np.ndarray) -> float:
        """Loss; its gradient for the scores is written to ``slopes``."""

    def curvature(self, scores: np.ndarray) -> Callable[[np.ndarray, np.ndarray], Any]:
        """A function that writes the product of the (generalised) second derivative at these scores and a direction."""


@dataclass(frozen=True)
class NewtonSolution:
    """Result of `minimise`.

    Attributes
    ----------
    coef
        The weights of the smallest objective.
    primal, dual
        Objective at ``coef``, and a lower bound of the objective of any weights.
    gap
        ``(primal − dual) / primal``; 0 where the primal is 0.
    n_iter, n_products
        Newton steps, and products with the curvature.
    """

    coef: np.ndarray
    primal: float
    dual: float
    gap: float
    n_iter: int
    n_products: int


def minimise(
    loss: ScoreLoss,
    n_features: int,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    monitor_step: Callable[[np.ndarray], bool] | None = None,
) -> NewtonSolution:
    r"""Minimise :math:`P(w) = \tfrac12 \lVert w \rVert^2 + L(w)`, L convex with a continuous gradient.

    Each step solves the Newton equations by conjugate gradients, which needs only products with the curvature, and goes
    along the solution to about the lowest point. For the dual point that belongs to the gradient,
    :math:`u = -\nabla L(w)`, the Fenchel dual is :math:`L(w) + u \cdot w - \tfrac12 \lVert u \rVert^2`, so

    .. math:: P(w) - \min P \le \tfrac12 \lVert \nabla P(w) \rVert^2 ,

    a gap that is available at no cost. Training stops when the gap is at most ``tol`` times the objective.

    Parameters
    ----------
    loss
        The loss L, by scores.
    n_features
        Number of weights.
    tol
        Relative gap at which to stop.
    max_iter
        Maximum number of Newton steps.
    monitor_step
        Called after each step with the weights so far; training stops when it returns True.

    References
    ----------
    Keerthi and DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. JMLR 2005.
    Chapelle and Keerthi: Efficient algorithms for ranking with SVMs. Information Retrieval 2010.
    """
    weights, products = np.zeros(n_features), 0
    scores, moved, slopes = (loss.per_document() for _ in range(3))
    buffers = loss.per_document(), loss.per_document()
    loss.scores(weights, scores)
    primal, dual, n_iter = loss.evaluate(scores, slopes), 0.0, 0
    while True:
        gradient = weights + loss.pull_back(slopes)
        dual = max(dual, primal - 0.5 * float(gradient @ gradient))
        started = n_iter > 0 or not gradient.any()  # a weak penalty must not pass for a solution: 0 orders nothing
        if (started and primal - dual <= tol * primal) or n_iter == max_iter:
            break
        step, n = _conjugate_gradients(loss, scores, gradient, moved, buffers)
        products += n
        line = _Line(loss, weights, scores, step, moved, float(gradient @ step), slopes, buffers[0])
        length = line.search()
        n_iter += 1
        if not line.objective < primal:
            break  # rounding prevents further progress
        weights, primal = weights + length * step, line.objective
        moved *= length
        scores += moved
        if monitor_step is not None and monitor_step(weights):
            gradient = weights + loss.pull_back(slopes)
            dual = max(dual, primal - 0.5 * float(gradient @ gradient))
            break
    gap = relative_gap(primal, dual)
    return NewtonSolution(weights, primal, dual, gap, n_iter, products)


def _conjugate_gradients(
    loss: ScoreLoss, scores: np.ndarray, gradient: np.ndarray, moved: np.ndarray, buffers: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, int]:
    """A step d with (I + curvature) d ≈ −gradient, and the number of products it took.

    How it moves the scores is written to ``moved``; ``buffers`` are two more arrays with a number for each document.
    """
    times = loss.curvature(scores)
    step = np.zeros(gradient.size)
    moved[...] = 0.0
    pushed, bent = buffers
    rest, direction = -gradient, -gradient
    square = float(rest @ rest)
    enough = _FORCING**2 * square
    n = 0
    while square > enough and n < max(gradient.size, 10):
        loss.scores(direction, pushed)
        times(pushed, bent)
        product = direction + loss.pull_back(bent)
        n += 1
        length = square / float(direction @ product)
        step += length * direction
        pushed *= length
        moved += pushed
        rest = rest - length * product
        before, square = square, float(rest @ rest)
        direction = rest + (square / before) * direction
    return step, n


class _Line:
    """The objective along a step, computed from the moved scores alone, without the features.

    The gradient for the scores at the last length is in ``slopes``; ``trial_scores`` is a buffer for the moved scores.
    """

    def __init__(
        self,
        loss: ScoreLoss,
        weights: np.ndarray,
        scores: np.ndarray,
        step: np.ndarray,
        moved: np.ndarray,
        slope: float,
        slopes: np.ndarray,
        trial_scores: np.ndarray,
    ) -> None:
        self.loss, self.scores, self.moved = loss, scores, moved
        self.slopes, self.trial_scores = slopes, trial_scores
        self.square, self.cross, self.bend = float(weights @ weights), float(weights @ step), float(step @ step)
        self.first_slope = slope
        self.objective = np.inf

    def slope(self, length: float) -> float:
        """Slope at a length; keeps the objective and the slopes of the scores there."""
        np.multiply(self.moved, length, out=self.trial_scores)
        self.trial_scores += self.scores
        value = self.loss.evaluate(self.trial_scores, self.slopes)
        self.objective = value + 0.5 * (self.square + 2.0 * length * self.cross + length**2 * self.bend)
        return self.cross + length * self.bend + float(self.slopes @ self.moved)

    def search(self) -> float:
        """A length at which the slope is small compared with the first: mostly 1, otherwise by false position."""
        enough = _SLOPE_LEFT * abs(self.first_slope)
        low, low_slope, length = 0.0, self.first_slope, 1.0
        high, high_slope = np.inf, np.inf
        for _ in range(_LINE_STEPS):
            slope = self.slope(length)
            if abs(slope) <= enough:
                break
            if slope < 0:
                low, low_slope = length, slope
            else:
                high, high_slope = length, slope
            if high == np.inf:
                length *= 2.0
            else:
                share = low_slope / (low_slope - high_slope)
                length = low + min(max(share, 0.1), 0.9) * (high - low)
        return length
