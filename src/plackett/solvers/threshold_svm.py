"""Support vector machines with several thresholds on one direction, solved by an interior-point method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.mapped import row_array, row_blocks
from plackett.scorers.products import table_times, transposed_times

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

    def blocks(self) -> Iterator[slice]:
        """Ranges of terms, one after the other."""
        return row_blocks(self.row.size)

    def per_term(self) -> np.ndarray:
        """Zeros, one for each term; on the disk if the features are."""
        return row_array(self.X, self.row.shape)

    def lacks(self, some: slice, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """By how much each of some terms misses its margin; negative where it does not."""
        return self.margin - self.side[some] * (scores[self.row[some]] - thresholds[self.threshold[some]])

    def per_threshold(self, values: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Sum of a number per term for each threshold."""
        out = np.zeros(self.linear.size)
        for some in self.blocks():
            out += np.bincount(self.threshold[some], values(some), out.size)
        return out

    def per_row(self, values: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Sum of a number per term for each row."""
        out = row_array(self.X, (self.X.shape[0],))
        for some in self.blocks():
            np.add.at(out, self.row[some], values(some))
        return out

    def total(self, values: Callable[[slice], Any]) -> float:
        """Sum of what a function returns for some terms."""
        return float(sum(values(some) for some in self.blocks()))

    def multiply(self, weights: np.ndarray) -> np.ndarray:
        """Score w·x of each row."""
        return table_times(self.X, weights[:, None], self.n_jobs, row_array(self.X, (self.X.shape[0], 1)))[:, 0]

    def combine(self, values: np.ndarray) -> np.ndarray:
        """Σ over the rows of a number times x."""
        return transposed_times(self.X, values[:, None], self.n_jobs)[:, 0]

    def primal(self, weights: np.ndarray, thresholds: np.ndarray) -> float:
        """The objective; thresholds must be in order if the problem requires it."""
        scores = self.multiply(weights)
        slack = self.total(lambda some: self.cost[some] @ np.maximum(self.lacks(some, scores, thresholds), 0.0))
        return float(0.5 * weights @ weights + self.linear @ thresholds + slack)


def grade_terms(
    X: Any, grade: np.ndarray, price: np.ndarray, n_grades: int, above: np.ndarray, below: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row, threshold, side and cost of the terms of each document with a threshold above its grade and one below.

    ``above`` and ``below`` are the numbers of these thresholds for each grade. The lowest grade has none below, and
    the highest none above.
    """
    shares = [
        (above, -1.0, lambda own: np.flatnonzero(own < n_grades - 1)),
        (below, 1.0, lambda own: np.flatnonzero(own > 0)),
    ]
    size = sum(chosen(grade[rows]).size for rows in row_blocks(grade.size) for _, _, chosen in shares)
    row, threshold = (row_array(X, (size,), np.int64) for _ in range(2))
    side, cost = (row_array(X, (size,)) for _ in range(2))
    n = 0
    for thresholds, sign, chosen in shares:
        for rows in row_blocks(grade.size):
            own = chosen(grade[rows])
            new = slice(n, n + own.size)
            row[new], side[new], cost[new] = rows.start + own, sign, price[rows][own]
            threshold[new] = thresholds[grade[rows][own]]
            n = new.stop
    return row, threshold, side, cost


@dataclass(frozen=True)
class ThresholdSolution:
    """Weights, thresholds, sums Σ α s of the multipliers of each row's terms, the objective and the dual's bound.

    ``gap`` is their distance as a share of the objective, ``n_iter`` the number of steps, and ``closed`` whether the
    gap became as small as requested.
    """

    weights: np.ndarray
    thresholds: np.ndarray
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
        p = problem.linear.size
        self.alpha, self.u, self.v = (problem.per_term() for _ in range(3))  # the latter are prices of α ≥ 0 and α ≤ C
        self.alpha_step, self.u_step, self.v_step, self.q, self.rho = (problem.per_term() for _ in range(5))
        np.multiply(problem.cost, 0.5, out=self.alpha)
        self.u[:], self.v[:] = 1.0, 1.0
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
        for some in problem.blocks():
            self.q[some] = 1.0 / (self.u[some] / self.alpha[some] + self.v[some] / self._remaining(some))
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # refused there
                solve = self._factor()
        except np.linalg.LinAlgError:
            return False
        scores = problem.multiply(self.weights)
        signed = self._signed(self.alpha)
        direction = self.weights - problem.combine(problem.per_row(signed))
        balance = problem.linear + problem.per_threshold(signed) - self.gaps.T @ self.mu
        order = self.gaps @ self.thresholds - self.z

        def move(third: np.ndarray) -> tuple[np.ndarray, ...]:
            """Newton's step for given right-hand sides of the three complementarity conditions.

            The first two are in the steps of u and v, where they are replaced.
            """
            for some in problem.blocks():
                stationarity = -problem.lacks(some, scores, self.thresholds) - self.u[some] + self.v[some]
                first, second = self.u_step[some], self.v_step[some]
                self.rho[some] = -stationarity + first / self.alpha[some] - second / self._remaining(some)

            def pulled(some: slice) -> np.ndarray:
                return problem.side[some] * self.q[some] * self.rho[some]

            kappa = (third - self.mu * order) / self.z
            dw, dt = solve(
                -direction + problem.combine(problem.per_row(pulled)),
                -balance - problem.per_threshold(pulled) + self.gaps.T @ kappa,
            )
            moved = problem.multiply(dw)
            for some in problem.blocks():
                change = moved[problem.row[some]] - dt[problem.threshold[some]]
                da = self.q[some] * (self.rho[some] - problem.side[some] * change)
                self.alpha_step[some] = da
                self.u_step[some] = (self.u_step[some] - self.u[some] * da) / self.alpha[some]
                self.v_step[some] = (self.v_step[some] + self.v[some] * da) / self._remaining(some)
            dz = self.gaps @ dt + order
            return dw, dt, kappa - self.mu / self.z * (self.gaps @ dt), dz

        now = self._complementarity(0.0, 0.0, 0.0)
        for some in problem.blocks():
            self.u_step[some] = -self.alpha[some] * self.u[some]
            self.v_step[some] = -self._remaining(some) * self.v[some]
        _, _, dm, dz = move(-self.mu * self.z)
        length = self._length(dm, dz)
        then = self._complementarity(length, dm, dz)
        target = (then / now) ** 3 * now / (2 * self.alpha.size + self.mu.size)
        for some in problem.blocks():
            da, du, dv = self.alpha_step[some], self.u_step[some], self.v_step[some]
            self.u_step[some] = target - self.alpha[some] * self.u[some] - da * du
            self.v_step[some] = target - self._remaining(some) * self.v[some] + da * dv
        dw, dt, dm, dz = move(target - self.mu * self.z - dm * dz)
        length = min(1.0, 0.995 * self._length(dm, dz))
        if not (length > 1e-10 and all(np.isfinite(part).all() for part in (dw, dt, dm, dz)) and self._finite()):
            return False
        for name, change in (("weights", dw), ("thresholds", dt), ("mu", dm), ("z", dz)):
            setattr(self, name, getattr(self, name) + length * change)
        for some in problem.blocks():
            alpha = self.alpha[some] + length * self.alpha_step[some]
            self.u[some] += length * self.u_step[some]
            self.v[some] += length * self.v_step[some]
            # rounding must not move a multiplier onto its bound: the next step would divide by zero
            edge = 1e-15 * problem.cost[some]
            self.alpha[some] = np.clip(alpha, edge, problem.cost[some] - edge)
        return True

    def _remaining(self, some: slice) -> np.ndarray:
        """What is left of the cost of some terms."""
        return self.problem.cost[some] - self.alpha[some]

    def _signed(self, values: np.ndarray) -> Callable[[slice], np.ndarray]:
        return lambda some: self.problem.side[some] * values[some]

    def _finite(self) -> bool:
        steps = (self.alpha_step, self.u_step, self.v_step)
        return all(np.isfinite(step[some]).all() for some in self.problem.blocks() for step in steps)

    def _complementarity(self, length: float, dm: Any, dz: Any) -> float:
        """What the conditions lack of 0 after a step of some length."""

        def terms(some: slice) -> float:
            far = length * self.alpha_step[some]
            u, v = self.u[some] + length * self.u_step[some], self.v[some] + length * self.v_step[some]
            return float((self.alpha[some] + far) @ u + (self._remaining(some) - far) @ v)

        return self.problem.total(terms) + float((self.mu + length * dm) @ (self.z + length * dz))

    def _length(self, dm: np.ndarray, dz: np.ndarray) -> float:
        """How far a step can be taken before something becomes negative; at most 1."""

        def pairs() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for some in self.problem.blocks():
                yield self.alpha[some], self.alpha_step[some]
                yield self._remaining(some), -self.alpha_step[some]
                yield self.u[some], self.u_step[some]
                yield self.v[some], self.v_step[some]
            yield self.mu, dm
            yield self.z, dz

        longest = 1.0
        for value, change in pairs():
            falling = change < 0.0
            if falling.any():
                longest = min(longest, float((value[falling] / -change[falling]).min()))
        return longest

    def _factor(self) -> Any:
        """Solver of the equations for weights and thresholds, the terms eliminated."""
        from scipy.linalg import cho_factor, cho_solve

        problem = self.problem
        d, p = problem.X.shape[1], problem.linear.size
        table = np.zeros((d + p, d + p))
        table[:d, :d] = _weighted_squares(problem.X, problem.per_row(lambda some: self.q[some]))
        flat = row_array(problem.X, (problem.X.shape[0], p))
        for some in problem.blocks():  # a row has at most one term for a threshold
            flat[problem.row[some], problem.threshold[some]] = self.q[some]
        table[:d, d:] = -transposed_times(problem.X, flat, problem.n_jobs)
        table[d:, :d] = table[:d, d:].T
        table[d:, d:] = np.diag(problem.per_threshold(lambda some: self.q[some]))
        table[d:, d:] += self.gaps.T @ (self.gaps * (self.mu / self.z)[:, None])
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
        signed = self._signed(alpha)
        left = problem.linear + problem.per_threshold(signed) - self.gaps.T @ self.mu
        thresholds = np.maximum.accumulate(self.thresholds) if problem.ordered else self.thresholds
        heights = problem.per_row(signed)
        weights = problem.combine(heights)
        lower = problem.margin * alpha.sum() - 0.5 * weights @ weights - np.abs(left) @ np.abs(thresholds)
        upper, lower = problem.primal(weights, thresholds), float(lower)
        least = _SMALL if problem.margin == 0.0 else np.finfo(float).tiny
        gap = max(upper - lower, 0.0) / max(abs(upper), abs(lower), least)
        return ThresholdSolution(weights, thresholds, heights, upper, lower, gap)

    def _feasible(self) -> np.ndarray:
        """The multipliers with the larger side of each threshold shrunk, so that the dual's equations hold."""
        problem = self.problem
        above = problem.per_threshold(lambda some: np.where(problem.side[some] > 0, self.alpha[some], 0.0))
        below = problem.per_threshold(lambda some: np.where(problem.side[some] > 0, 0.0, self.alpha[some]))
        wanted = self.gaps.T @ self.mu - problem.linear  # above − below
        shrunk = np.minimum(above, np.maximum(below + wanted, 0.0))
        ratios = [
            np.divide(new, old, out=np.ones_like(old), where=old > 0)
            for new, old in ((shrunk, above), (np.minimum(below, np.maximum(shrunk - wanted, 0.0)), below))
        ]
        alpha = self.rho  # not needed between two steps
        for some in problem.blocks():
            up, at = problem.side[some] > 0, problem.threshold[some]
            alpha[some] = self.alpha[some] * np.where(up, ratios[0][at], ratios[1][at])
        return alpha


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
