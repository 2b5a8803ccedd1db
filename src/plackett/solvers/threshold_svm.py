"""Support vector machines with several thresholds on one direction, solved by an interior-point method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.scorers._products import table_times, transposed_times

__all__ = ["MOST_COLUMNS", "ThresholdProblem", "ThresholdSolution", "solve_threshold_svm"]

#: A problem without a margin can have the optimum 0: its value is known well enough below this times the tolerance.
_SMALL = 1e-3
#: The method factors a table of this many columns (and rows) in each step.
MOST_COLUMNS = 8192
_BLOCK_ROWS = 4096
_MOST_STEPS = 200


@dataclass(frozen=True)
class ThresholdProblem:
    r"""Least :math:`\tfrac12 \lVert w \rVert^2 + c \cdot \theta + \sum_t C_t \xi_t` with ξ ≥ 0 and

    .. math:: s_t (w \cdot x_{i(t)} - \theta_{k(t)}) \ge m - \xi_t, \qquad
              \theta_{k+1} \ge \theta_k \text{ where ordered}

    Parameters
    ----------
    X
        Table of features, NumPy or CSR.
    row, threshold, side, cost
        Of each term t: row i, threshold k, side s (−1 or 1) and price C > 0.
    margin
        m.
    linear
        c, one number per threshold.
    ordered
        Whether the thresholds are held in order.
    n_jobs
        Threads.
    """

    X: Any
    row: np.ndarray
    threshold: np.ndarray
    side: np.ndarray
    cost: np.ndarray
    margin: float
    linear: np.ndarray
    ordered: bool
    n_jobs: int | None = None

    def lacks(self, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """By how much each term misses its margin; negative where it does not."""
        return self.margin - self.side * (scores[self.row] - thresholds[self.threshold])

    def per_threshold(self, values: np.ndarray) -> np.ndarray:
        """Sum of a number per term for each threshold."""
        return np.bincount(self.threshold, values, self.linear.size)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Sum of a number per term for each row."""
        return np.bincount(self.row, values, self.X.shape[0])

    def multiply(self, weights: np.ndarray) -> np.ndarray:
        """Score w·x of each row."""
        return table_times(self.X, weights[:, None], self.n_jobs)[:, 0]

    def combine(self, values: np.ndarray) -> np.ndarray:
        """Σ over the rows of a number times x."""
        return transposed_times(self.X, values[:, None], self.n_jobs)[:, 0]

    def primal(self, weights: np.ndarray, thresholds: np.ndarray) -> float:
        """The objective; thresholds must be in order if the problem requires it."""
        slack = np.maximum(self.lacks(self.multiply(weights), thresholds), 0.0)
        return float(0.5 * weights @ weights + self.linear @ thresholds + self.cost @ slack)


@dataclass(frozen=True)
class ThresholdSolution:
    """Weights, thresholds, multipliers α of the terms, their sums Σ α s per row, the objective and the dual's bound.

    ``gap`` is their distance as a share of the objective, ``n_iter`` the number of steps, and ``closed`` whether the
    gap became as small as requested.
    """

    weights: np.ndarray
    thresholds: np.ndarray
    alpha: np.ndarray
    heights: np.ndarray
    primal: float
    dual: float
    gap: float
    n_iter: int = 0
    closed: bool = True


def solve_threshold_svm(problem: ThresholdProblem, tol: float = 1e-8) -> ThresholdSolution:
    r"""Optimum of a `ThresholdProblem`, with a gap of at most ``tol`` times the objective that is proved by the dual

    .. math:: \max_{0 \le \alpha \le C,\ \mu \ge 0} m \sum_t \alpha_t - \tfrac12 \Big\lVert \sum_t \alpha_t s_t x_t
              \Big\rVert^2, \qquad c_k + \sum_{t \in k} s_t \alpha_t = \mu_{k-1} - \mu_k

    Mehrotra's predictor-corrector method. The terms are eliminated, so that a step factors one table of the size of
    the features plus thresholds: time O(N d²) for N rows and d features and some tens of steps, for any prices.
    The multipliers are made feasible for the dual before its value is computed. Any residual that rounding leaves in
    an equation, times its threshold, is subtracted from the bound.

    References
    ----------
    Ferris, Munson: Interior-point methods for massive support vector machines. SIAM J. Optimization 2002.
    """
    if problem.X.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"{problem.X.shape[1]} columns are too many for the interior-point solver (at most {MOST_COLUMNS}); "
            "select features, or use a ranker with a gradient method"
        )
    if problem.row.size == 0:
        return ThresholdSolution(
            np.zeros(problem.X.shape[1]),
            np.zeros(problem.linear.size),
            np.empty(0),
            np.zeros(problem.X.shape[0]),
            0.0,
            0.0,
            0.0,
        )
    state = _State(problem)
    best = state.solution()
    n_iter = 0
    while best.gap > tol and n_iter < _MOST_STEPS and state.step():
        n_iter += 1
        candidate = state.solution()
        if candidate.primal - candidate.dual < best.primal - best.dual:
            best = candidate
    return replace(best, n_iter=n_iter, closed=best.gap <= tol)


class _State:
    """The iterate of the interior-point method and its steps."""

    def __init__(self, problem: ThresholdProblem) -> None:
        self.problem = problem
        n, p = problem.row.size, problem.linear.size
        self.alpha = 0.5 * problem.cost
        self.u, self.v = np.ones(n), np.ones(n)  # prices of α ≥ 0 and of α ≤ C
        self.weights, self.thresholds = np.zeros(problem.X.shape[1]), np.arange(p, dtype=float)
        between = max(p - 1, 0) if problem.ordered else 0
        # price and size of the gaps between thresholds; the price starts as large as those of the terms, because small
        # prices never recover from a very bad first bound
        self.mu, self.z = np.full(between, self.alpha.mean()), np.ones(between)
        self.gaps = np.diff(np.eye(p), axis=0)[:between]

    # ------------------------------------------------------------------------------------------------------- a step

    def step(self) -> bool:
        """One predictor and corrector; False if rounding prevents any further step."""
        problem = self.problem
        remaining_cost = problem.cost - self.alpha
        q = 1.0 / (self.u / self.alpha + self.v / remaining_cost)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # refused there
                solve = self._factor(q)
        except np.linalg.LinAlgError:
            return False
        stationarity = -problem.lacks(problem.multiply(self.weights), self.thresholds) - self.u + self.v
        direction = self.weights - problem.combine(problem.per_row(problem.side * self.alpha))
        balance = problem.linear + problem.per_threshold(problem.side * self.alpha) - self.gaps.T @ self.mu
        order = self.gaps @ self.thresholds - self.z

        def move(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> tuple[np.ndarray, ...]:
            """Newton's step for given right-hand sides of the three complementarity conditions."""
            rho = -stationarity + first / self.alpha - second / remaining_cost
            pulled = problem.side * q * rho
            kappa = (third - self.mu * order) / self.z
            dw, dt = solve(
                -direction + problem.combine(problem.per_row(pulled)),
                -balance - problem.per_threshold(pulled) + self.gaps.T @ kappa,
            )
            change = problem.multiply(dw)[problem.row] - dt[problem.threshold]
            da = q * (rho - problem.side * change)
            du = (first - self.u * da) / self.alpha
            dv = (second + self.v * da) / remaining_cost
            dz = self.gaps @ dt + order
            return dw, dt, da, du, dv, kappa - self.mu / self.z * (self.gaps @ dt), dz

        now = self._complementarity()
        pairs = 2 * self.alpha.size + self.mu.size
        _, _, da, du, dv, dm, dz = affine = move(-self.alpha * self.u, -remaining_cost * self.v, -self.mu * self.z)
        length = self._length(affine)
        then = (
            ((self.alpha + length * da) * (self.u + length * du)).sum()
            + ((remaining_cost - length * da) * (self.v + length * dv)).sum()
            + ((self.mu + length * dm) * (self.z + length * dz)).sum()
        )
        target = (then / now) ** 3 * now / pairs
        step = move(
            target - self.alpha * self.u - da * du,
            target - remaining_cost * self.v + da * dv,
            target - self.mu * self.z - dm * dz,
        )
        length = min(1.0, 0.995 * self._length(step))
        if not (length > 1e-10 and all(np.isfinite(part).all() for part in step)):
            return False
        for name, change in zip(("weights", "thresholds", "alpha", "u", "v", "mu", "z"), step, strict=True):
            setattr(self, name, getattr(self, name) + length * change)
        # rounding must not move a multiplier onto its bound: the next step would divide by zero
        edge = 1e-15 * problem.cost
        self.alpha = np.clip(self.alpha, edge, problem.cost - edge)
        return True

    def _complementarity(self) -> float:
        remaining_cost = self.problem.cost - self.alpha
        return float(self.alpha @ self.u + remaining_cost @ self.v + self.mu @ self.z)

    def _length(self, step: tuple[np.ndarray, ...]) -> float:
        """How far a step can be taken before something becomes negative; at most 1."""
        _, _, da, du, dv, dm, dz = step
        remaining_cost = self.problem.cost - self.alpha
        longest = 1.0
        for value, change in (
            (self.alpha, da),
            (remaining_cost, -da),
            (self.u, du),
            (self.v, dv),
            (self.mu, dm),
            (self.z, dz),
        ):
            falling = change < 0.0
            if falling.any():
                longest = min(longest, float((value[falling] / -change[falling]).min()))
        return longest

    def _factor(self, q: np.ndarray) -> Any:
        """Solver of the equations for weights and thresholds, the terms eliminated."""
        from scipy.linalg import cho_factor, cho_solve

        problem = self.problem
        d, p = problem.X.shape[1], problem.linear.size
        table = np.zeros((d + p, d + p))
        table[:d, :d] = _weighted_squares(problem.X, problem.per_row(q))
        flat = np.zeros((problem.X.shape[0], p))
        flat[problem.row, problem.threshold] = q  # a row has at most one term for a threshold
        table[:d, d:] = -transposed_times(problem.X, flat, problem.n_jobs)
        table[d:, :d] = table[:d, d:].T
        table[d:, d:] = np.diag(problem.per_threshold(q)) + self.gaps.T @ (self.gaps * (self.mu / self.z)[:, None])
        table[np.arange(d), np.arange(d)] += 1.0
        if not np.isfinite(table).all():
            raise np.linalg.LinAlgError
        scale = 1.0 / np.sqrt(np.diag(table))
        factor = cho_factor(table * scale * scale[:, None], lower=True)

        def solve(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            right = np.concatenate([first, second])
            x = scale * cho_solve(factor, scale * right)
            x += scale * cho_solve(factor, scale * (right - table @ x))  # the table is nearly singular at the end
            return x[:d], x[d:]

        return solve

    # --------------------------------------------------------------------------------------------------- the result

    def solution(self) -> ThresholdSolution:
        """A feasible pair of primal and dual near the iterate."""
        problem = self.problem
        alpha = self._feasible()
        left = problem.linear + problem.per_threshold(problem.side * alpha) - self.gaps.T @ self.mu
        thresholds = np.maximum.accumulate(self.thresholds) if problem.ordered else self.thresholds
        heights = problem.per_row(problem.side * alpha)
        weights = problem.combine(heights)
        lower = problem.margin * alpha.sum() - 0.5 * weights @ weights - np.abs(left) @ np.abs(thresholds)
        upper, lower = problem.primal(weights, thresholds), float(lower)
        least = _SMALL if problem.margin == 0.0 else np.finfo(float).tiny
        gap = max(upper - lower, 0.0) / max(abs(upper), abs(lower), least)
        return ThresholdSolution(weights, thresholds, alpha, heights, upper, lower, gap)

    def _feasible(self) -> np.ndarray:
        """The multipliers with the larger side of each threshold shrunk, so that the dual's equations hold."""
        problem = self.problem
        up = problem.side > 0
        above, below = (problem.per_threshold(np.where(side, self.alpha, 0.0)) for side in (up, ~up))
        wanted = self.gaps.T @ self.mu - problem.linear  # above − below
        shrunk = np.minimum(above, np.maximum(below + wanted, 0.0))
        ratios = [
            np.divide(new, old, out=np.ones_like(old), where=old > 0)[problem.threshold]
            for new, old in ((shrunk, above), (np.minimum(below, np.maximum(shrunk - wanted, 0.0)), below))
        ]
        return self.alpha * np.where(up, *ratios)


def _weighted_squares(X: Any, weight: np.ndarray) -> np.ndarray:
    """Xᵀ diag(weight) X, in blocks of rows: no float64 copy of the table."""
    if not isinstance(X, np.ndarray):
        return np.asarray((X.T @ X.multiply(weight[:, None]).tocsr()).todense(), np.float64)
    out = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        part = X[rows] * np.sqrt(weight[rows])[:, None]
        out += part.T @ part
    return out
