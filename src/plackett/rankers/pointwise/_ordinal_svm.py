"""Shared base of the ordinal support vector machines: grades, weights, kernels and the solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.mapped import row_array, row_blocks, take_rows
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.data.parts import counted, labels_that_occur, per_row, rows_where, values_at
from plackett.rankers.base import Ranker
from plackett.scorers.kernel import KERNELS, KernelScorer
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor
from plackett.solvers.proved_gap import warn_of_open_gap
from plackett.solvers.threshold_svm import ThresholdProblem, ThresholdSolution, solve_threshold_svm

_MOST_GRADES = 256
#: With a kernel the products of all documents are kept in memory and factored.
_MOST_ROWS = 4096


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalSVM(Ranker):
    """An ordinal support vector machine over all queries: one direction, with thresholds between the grades.

    The grades are the distinct labels, whole numbers or not; only their order counts. There may be at most 256. Labels
    below 0 are unjudged and left out. With a single grade there is nothing to learn, and all scores are 0. The penalty
    of a document is C times its weight and that of its query. Linear machines accept up to 8192 features, kernel
    machines up to 4096 documents.

    Parameters
    ----------
    C
        Penalty for a document on the wrong side of a margin (the λ of the book, which multiplies the slack). The
        default was chosen on validation queries of several small sets (see "Defaults on small data" in the guide to
        rankers).
    kernel
        ``"linear"``; ``"rbf"``, exp(−γ |x − z|²); ``"poly"``, (γ x·z + c)^degree.
    gamma, coef0, degree
        γ, c and the degree of the kernel; ``gamma=None`` uses 1 / number of features.
    balance
        Give both sides of each threshold the same weight; the total is unchanged. Most documents are irrelevant, and
        otherwise the hinge loss is small with all documents on one side, which ranks nothing.
    standardize
        Divide each feature by its standard deviation.
    tol
        Relative gap between the objective and the dual bound at which to stop.

    Attributes
    ----------
    thresholds_
        Thresholds on the scale of the scores.
    grades_
        The labels that the thresholds separate.
    objective_, gap_
        The objective reached, and an upper bound on its relative distance from the optimum, proved by the dual.
    n_iter_
        Steps of the interior-point method. After `load` all of these are gone, the scores are not.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"C": Real(1e-5, 1.0, log=True)}

    C: float = 0.001
    kernel: str = "linear"
    gamma: float | None = None
    coef0: float = 0.0
    degree: int = 3
    balance: bool = True
    standardize: bool = True
    tol: float = 1e-6

    def make_problem(self, X: Any, grade: np.ndarray, weight: np.ndarray, n_grades: int) -> ThresholdProblem:
        """The problem for documents of grades 0, …, n_grades − 1."""
        raise NotImplementedError

    def opposite(self, threshold: np.ndarray) -> np.ndarray:
        """Number of the group of terms whose two sides are balanced, from that of the threshold."""
        return threshold

    def solve(self, problem: ThresholdProblem) -> ThresholdSolution:
        """The solution of the problem."""
        return solve_threshold_svm(problem, self.tol)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_parameters()
        name = type(self).__name__
        self.grades_, grade, weight, counted = grades_of(data, name)
        n_grades = self.grades_.size
        scale = feature_scale(data.X, weight_of_rows(data), self.standardize)
        X = data.X if counted is None else take_rows(data.X, counted)
        linear = self.kernel == "linear"
        rows, middle = _scaled_and_centred(X, scale) if linear else (dense(X) / scale, None)
        table = rows if linear else self._factor(rows)
        with monitor.training(1, name):
            problem = self.make_problem(table, grade, weight, n_grades)
            if self.balance:
                problem = replace(problem, cost=_balanced(problem, self.opposite))
            solution = self.solve(problem)
            self.thresholds_ = (
                solution.thresholds if middle is None else solution.thresholds + solution.weights @ middle
            )
            self.objective_ = solution.primal
            self.gap_, self.n_iter_ = solution.gap, solution.n_iter
            self.scorer_ = self._scorer(solution, rows, scale)
            monitor.keep(self.scorer_)
        if not solution.closed:
            warn_of_open_gap(name, solution.gap, self.tol, solution.n_iter)

    def _check_parameters(self) -> None:
        name = type(self).__name__
        choice(f"{name}: kernel", self.kernel, KERNELS)
        if not ((self.C is None or self.C > 0) and self.tol > 0):
            raise DataError(f"{name}: C={self.C}, tol={self.tol}; give positive numbers")

    def _numbers(self, n_features: int) -> np.ndarray:
        gamma = 1.0 / n_features if self.gamma is None else self.gamma
        return np.array([0.0, gamma, self.coef0, self.degree], np.float64)

    def _factor(self, rows: np.ndarray) -> np.ndarray:
        """A table whose row products are the values of the kernel: its Cholesky factor, up to its rank."""
        from scipy.linalg.lapack import dpstrf

        n = rows.shape[0]
        if n > _MOST_ROWS:
            raise DataError(
                f"{type(self).__name__}: kernel={self.kernel!r} needs a documents × documents table, and {n} are "
                f"too many (at most {_MOST_ROWS}); use kernel='linear' or fewer documents"
            )
        if n == 0:
            return np.zeros((0, 1))
        squares = (rows**2).sum(axis=1)
        products = KERNELS[self.kernel](rows @ rows.T, squares, squares, *self._numbers(rows.shape[1])[1:])
        factor, pivot, rank, _ = dpstrf(products, lower=1, tol=1e-12 * max(float(np.diag(products).max()), 1e-300))
        table = np.empty((n, max(int(rank), 1)))
        table[pivot - 1] = np.tril(factor)[:, : table.shape[1]]
        return table

    def _scorer(self, solution: ThresholdSolution, rows: np.ndarray, scale: np.ndarray) -> Any:
        if self.kernel == "linear":
            return LinearScorer((solution.weights / scale.astype(np.float32))[:, None], np.zeros(1))
        kept = np.flatnonzero(np.abs(solution.heights) > 1e-9 * np.abs(solution.heights).max(initial=0.0))
        return KernelScorer(self.kernel, rows[kept], solution.heights[kept], scale, self._numbers(scale.size))


def grades_of(data: RankingDataset, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """The labels that occur; grade and weight of each document that counts; and the rows of these, None if all."""
    grades = labels_that_occur(data, counted)
    if grades.size > _MOST_GRADES:
        raise DataError(
            f"{name} cuts the scores into grades, but there are {grades.size} different labels (at most "
            f"{_MOST_GRADES}); round the labels, or use a regression"
        )
    rows = rows_where(data, counted)
    grade = per_row(data, lambda part: np.searchsorted(grades, part.labels), np.int64)
    weight = per_row(data, lambda part: part.row_weight)
    return grades, values_at(grade, rows, data.X), values_at(weight, rows, data.X), rows


def _balanced(problem: ThresholdProblem, group: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Penalties that give both sides of each group of terms (a threshold, a margin) the mean weight of the two."""
    above, below = (np.zeros(group(np.arange(problem.linear.size)).max(initial=-1) + 1) for _ in range(2))
    for some in problem.blocks():
        for total, sign in ((above, 1.0), (below, -1.0)):
            side = np.where(sign * problem.side[some] > 0, problem.cost[some], 0.0)
            np.add.at(total, group(problem.threshold[some]), side)
    cost = problem.per_term()
    for some in problem.blocks():
        at, up = group(problem.threshold[some]), problem.side[some] > 0
        cost[some] = problem.cost[some] * (0.5 * (above + below))[at] / np.where(up, above[at], below[at])
    return cost


def _scaled_and_centred(X: Any, scale: np.ndarray) -> tuple[Any, np.ndarray | None]:
    """The features divided by their scale, in float32, minus their means if the table is dense; and these means.

    The thresholds absorb any shift of the scores, so subtracting the means affects only rounding: a feature that is
    large and hardly varies would make the equations of the solver ill-conditioned.
    """
    single = scale.astype(np.float32)
    if not isinstance(X, np.ndarray):
        return X.multiply(1.0 / single).tocsr(), None
    middle = (X.mean(axis=0, dtype=np.float64) if X.shape[0] else np.zeros(X.shape[1])).astype(np.float32)
    table = row_array(X, X.shape, np.float32)
    for rows in row_blocks(X.shape[0]):
        table[rows] = (X[rows] - middle) / single
    return table, middle / single.astype(np.float64)
