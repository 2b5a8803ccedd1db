"""Large-margin ordinal regression that maximises the sum of the margins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.mapped import row_array, row_blocks
from plackett.rankers.pointwise._ordinal_svm import OrdinalSVM
from plackett.solvers.threshold_svm import ThresholdProblem, ThresholdSolution, grade_terms, solve_threshold_svm

__all__ = ["SumOfMarginsSVM"]

#: The share ν without a price.
_NU = 0.99


@dataclass(kw_only=True, eq=False, repr=False)
class SumOfMarginsSVM(OrdinalSVM):
    r"""Ordinal SVM with a separate margin between neighbouring grades; the sum of the margins is maximised.

    .. math:: \min \sum_k (a_k - b_k) + \lambda \sum_j \xi_j \quad\text{with } \lVert w \rVert \le 1, \quad
              a_k \le b_k \le a_{k+1}, \quad s_j \le a_k + \xi_j \ (y_j = k), \quad s_j \ge b_{k-1} - \xi_j \ (y_j = k)

    Grade k lies between :math:`b_{k-1}` and :math:`a_k`, and :math:`b_k - a_k` is the margin to the next one. The dual
    looks for the shortest vector between reduced convex hulls of the grades: a quadratic program, whose solution
    divided by its length solves the problem above. If the hulls meet (overlapping grades and a high price) the length
    is 0: no direction has a positive margin, the solution is w = 0 and all scores are equal.

    Parameters
    ----------
    C
        None sets the price of a document by `nu`; a number is the price λ (times the document's weight) for all. It
        must be larger than 1 / weight of the lowest and of the highest grade; otherwise the objective has no lower
        bound, because wider and wider margins decrease it.
    nu
        Between 0 and 1: the price is 1/(ν · weight of the grade), so that about a share ν of each grade is inside or
        beyond its margin. Near 1 the direction between two grades is the difference of their means.
        None is 0.99 where C is None: chosen on validation queries of several small sets (see "Defaults on small data"
        in the guide to rankers); grades of real data overlap so much that at 0.9 there often is no margin at all.
    balance
        Give both ends of each margin the same weight, the mean of the two; with ``nu`` they always have it.

    Attributes
    ----------
    thresholds_
        :math:`a_1, b_1, a_2, b_2, \dots`
    objective_, gap_
        Of the problem above, negative where there are margins; the gap is not a share of the objective here, which can
        be 0.

    Examples
    --------
    >>> ranker = SumOfMarginsSVM(C=10.0, standardize=False, tol=1e-9)
    >>> ranker = ranker.fit([[0.0], [1.0], [4.0], [4.5]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.thresholds_.round(4).tolist()
    [1.0, 4.0, 4.0, 4.5]

    References
    ----------
    Shashua, Levin: Ranking with large margin principle: two approaches. NIPS 2002.
    """

    search_space: ClassVar[SearchSpace] = {"nu": Real(0.1, 0.95)}

    C: float | None = None  # type: ignore[assignment]
    nu: float | None = None
    balance: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.nu is not None and (self.C is not None or not 0 < self.nu < 1):
            raise DataError(f"SumOfMarginsSVM: nu={self.nu}, C={self.C}; give nu between 0 and 1, or C, or neither")

    def make_problem(self, X: Any, grade: np.ndarray, weight: np.ndarray, n_grades: int) -> ThresholdProblem:
        """Each document with the lower end of the margin above its grade and the upper end of the one below."""
        total = np.zeros(n_grades)
        np.add.at(total, grade, weight)
        price = row_array(X, weight.shape)
        for rows in row_blocks(weight.size):
            price[rows] = weight[rows] / total[grade[rows]] if self.C is None else self.C * weight[rows]
        if self.C is not None and n_grades > 1 and not self.C * min(total[0], total[-1]) > 1:
            raise DataError(
                f"SumOfMarginsSVM: C={self.C} times the weight {min(total[0], total[-1]):g} of the documents with the "
                "lowest or highest label is not above 1, so margins without end would pay; give a larger C, or nu"
            )
        numbers, margins = np.arange(n_grades), np.tile([1.0, -1.0], max(n_grades - 1, 0))
        terms = grade_terms(X, grade, price, n_grades, 2 * numbers, 2 * numbers - 1)
        return ThresholdProblem(X, *terms, 0.0, margins, True, self.n_jobs)

    def opposite(self, threshold: np.ndarray) -> np.ndarray:
        """Number of the margin of each term; all terms of one end are on the same side of it."""
        return threshold // 2

    def solve(self, problem: ThresholdProblem) -> ThresholdSolution:
        """The solution of length 1, or w = 0."""
        nu = 1.0 if self.C is not None else _NU if self.nu is None else self.nu
        cost = np.divide(problem.cost, nu, out=problem.per_term())
        return _unit_length(solve_threshold_svm(replace(problem, cost=cost), self.tol))


def _unit_length(solution: ThresholdSolution) -> ThresholdSolution:
    """The solution divided by the length of its weights; 0 if that length is rounding error.

    Everything except the square of the weights is homogeneous; the bound −½‖w‖² of the dual becomes −‖w‖.
    """
    square, gap = float(solution.weights @ solution.weights), solution.primal - solution.dual
    length = np.sqrt(square) if square > max(4.0 * gap, 1e-8) else np.inf
    primal, dual = (solution.primal - 0.5 * square) / length, -np.sqrt(max(-2.0 * solution.dual, 0.0))
    return replace(
        solution,
        weights=solution.weights / length,
        thresholds=solution.thresholds / length,
        heights=np.divide(solution.heights, length, out=solution.heights),
        primal=primal,
        dual=dual,
        gap=max(primal - dual, 0.0),
    )
