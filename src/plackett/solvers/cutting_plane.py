"""Cutting planes for regularised risks, given only their value and one subgradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.solvers.proved_gap import relative_gap
from plackett.solvers.simplex_qp import simplex_qp

__all__ = ["minimise"]

#: A plane that has had no weight for this many rounds is dropped; it returns if it is violated again.
_IDLE_ROUNDS = 50
#: The small problem is solved to this share of the remaining gap.
_INNER_SHARE = 0.02
#: Where to look next: this share of the way from the best weights to those of the dual, more after success and less
#: after none. All the way, the weights swing around the solution while C is large: three to five times the rounds.
_FARTHER, _NEARER, _LEAST_REACH = 1.5, 0.8, 0.02


@dataclass(frozen=True)
class CuttingPlaneSolution:
    """Result of `minimise`.

    Attributes
    ----------
    coef
        The best weights found.
    primal, dual
        Objective at ``coef``, and a lower bound of the objective of any weights.
    gap
        ``(primal − dual) / primal``; 0 where the primal is 0.
    n_planes, n_iter
        Planes kept at the end, and evaluations of the risk.
    """

    coef: np.ndarray
    primal: float
    dual: float
    gap: float
    n_planes: int
    n_iter: int


def minimise(
    risk: Callable[[np.ndarray], tuple[float, np.ndarray]],
    n_features: int,
    *,
    C: float,
    tol: float = 1e-3,
    max_iter: int = 1000,
    monitor_step: Callable[[np.ndarray], bool] | None = None,
) -> CuttingPlaneSolution:
    r"""Minimise a regularised convex risk by cutting planes (the one-slack structural SVM).

    .. math:: P(w) = \tfrac12 \lVert w \rVert^2 + C\,R(w), \qquad R \ge 0 \text{ convex}

    Every evaluation of the risk gives a plane :math:`a_t \cdot w + b_t \le R(w)`. The planes and 0 bound R from below;
    with this bound instead of R, the problem becomes a small quadratic program, whose dual

    .. math:: \max_{\alpha \ge 0,\; \sum_t \alpha_t \le C} \; b \cdot \alpha
              - \tfrac12 \Big\lVert \sum_t \alpha_t a_t \Big\rVert^2

    is a lower bound of P even if it is solved only roughly. So the gap between it and the best objective is proved,
    and training stops when the gap is at most ``tol`` times the objective. The gap never increases. The number of
    rounds grows with C / tol and does not depend on the number of examples. The next plane is not taken at the weights
    of the dual, as in the plain method, but between them and the best weights so far, which keeps them from swinging
    around the solution.

    Parameters
    ----------
    risk
        Function that returns the value and a subgradient of the risk for given weights.
    n_features
        Number of weights.
    C
        Weight of the risk.
    tol
        Relative gap at which to stop.
    max_iter
        Maximum number of evaluations of the risk.
    monitor_step
        Called after each evaluation with the best weights so far; training stops when it returns True.

    References
    ----------
    Joachims, Finley, Yu: Cutting-plane training of structural SVMs. Machine Learning 2009.
    Teo, Vishwanathan, Smola, Le: Bundle methods for regularized risk minimization. JMLR 2010.

    Examples
    --------
    The smallest w ≥ 1, as a hinge:

    >>> hinge = lambda w: (max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1 else 0.0]))
    >>> solution = minimise(hinge, 1, C=10.0, tol=1e-6)
    >>> solution.coef.round(4).tolist(), round(solution.primal, 4)
    ([1.0], 0.5)
    """
    number("C", C, above=0, most=np.inf, error=LossError)
    bundle = _Bundle(n_features, C)
    best, primal, dual = np.zeros(n_features), np.inf, 0.0
    point, reach = best, 1.0
    n_iter = 0
    while n_iter < max_iter:
        value, slope = risk(point)
        n_iter += 1
        objective = 0.5 * float(point @ point) + C * value
        better = objective < primal
        if better:
            best, primal = point, objective
        bundle.add(slope, value - float(slope @ point))
        # P ≥ 0, and the dual never falls except by rounding
        dual = max(dual, bundle.solve(_INNER_SHARE * max(primal - dual, tol * primal)))
        started = n_iter > 1 or not slope.any()  # a weak penalty must not pass for a solution: 0 orders nothing
        if (monitor_step is not None and monitor_step(best)) or (started and primal - dual <= tol * primal):
            break
        reach = min(reach * _FARTHER, 1.0) if better else max(reach * _NEARER, _LEAST_REACH)
        point = best + reach * (bundle.weights() - best)
    gap = relative_gap(primal, dual)
    return CuttingPlaneSolution(best, primal, dual, gap, bundle.size, n_iter)


class _Bundle:
    """Planes, their products with each other, and the weights of the dual; number 0 is the plane R ≥ 0."""

    def __init__(self, n_features: int, C: float) -> None:
        self.planes: np.ndarray = np.zeros((16, n_features))
        self.products: np.ndarray = np.zeros((16, 16))
        self.heights, self.alpha = np.zeros(16), np.zeros(16)
        self.idle = np.zeros(16, np.int64)
        self.alpha[0] = C
        self.size = 1

    def add(self, slope: np.ndarray, height: float) -> None:
        """Add a plane, after dropping those that have been unused for long."""
        self._drop()
        if self.size == self.alpha.size:
            self._grow()
        n = self.size
        self.planes[n], self.heights[n], self.alpha[n], self.idle[n] = slope, height, 0.0, 0
        self.size = n + 1
        self.products[n, : n + 1] = self.planes[: n + 1] @ slope
        self.products[: n + 1, n] = self.products[n, : n + 1]

    def solve(self, accuracy: float) -> float:
        """Value of the dual, within this distance of its maximum."""
        n = self.size
        used = self.alpha[:n]
        value = simplex_qp(self.products, self.heights, self.alpha, n, accuracy)
        self.idle[:n] = np.where(used > 0.0, 0, self.idle[:n] + 1)
        return float(value)

    def weights(self) -> np.ndarray:
        """The weights that belong to the dual solution."""
        return -(self.alpha[: self.size] @ self.planes[: self.size])

    def _drop(self) -> None:
        kept = self.idle[: self.size] < _IDLE_ROUNDS
        kept[0] = True
        if kept.all():
            return
        rows = np.flatnonzero(kept)
        n = rows.size
        self.products[:n, :n] = self.products[np.ix_(rows, rows)]
        for array in (self.planes, self.heights, self.alpha, self.idle):
            array[:n] = array[rows]
        self.size = n

    def _grow(self) -> None:
        n = self.size
        planes, products = np.zeros((2 * n, self.planes.shape[1])), np.zeros((2 * n, 2 * n))
        planes[:n], products[:n, :n] = self.planes, self.products
        self.planes, self.products = planes, products
        self.heights, self.alpha = np.append(self.heights, np.zeros(n)), np.append(self.alpha, np.zeros(n))
        self.idle = np.append(self.idle, np.zeros(n, np.int64))
