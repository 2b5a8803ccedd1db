"""Large-margin ordinal regression with one margin for all thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.mapped import row_array
from plackett.rankers.pointwise._ordinal_svm import OrdinalSVM
from plackett.solvers.threshold_svm import ThresholdProblem, grade_terms

__all__ = ["FixedMarginSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class FixedMarginSVM(OrdinalSVM):
    r"""Ordinal SVM with a fixed margin: neighbouring grades on two sides of a threshold, at a distance of 1 each.

    .. math:: \min_{w, \theta} \tfrac12 \lVert w \rVert^2 + C \sum_k \Big( \sum_{y_j = k} \max(0, 1 + s_j - \theta_k)
              + \sum_{y_j = k+1} \max(0, 1 - s_j + \theta_k) \Big), \qquad s_j = w \cdot x_j

    A document counts only at the two thresholds around its grade (the immediate-threshold loss), and nothing keeps the
    thresholds in order: if few documents lie between two of them, they can cross. `SVORExplicit` forbids that;
    `SVORImplicit` does not need to. Solved by an interior-point method, with a proved gap.

    Examples
    --------
    >>> ranker = FixedMarginSVM(C=10.0, standardize=False, tol=1e-9)
    >>> ranker = ranker.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.scorer_.weights.round(4).tolist(), ranker.thresholds_.round(4).tolist()  # neighbours are 2 apart
    ([[2.0]], [3.0, 5.0])

    References
    ----------
    Shashua, Levin: Ranking with large margin principle: two approaches. NIPS 2002.
    """

    #: Whether the thresholds are held in order.
    ordered: ClassVar[bool] = False

    def make_problem(self, X: Any, grade: np.ndarray, weight: np.ndarray, n_grades: int) -> ThresholdProblem:
        """Each document with the threshold above its grade and with the one below."""
        numbers, level = np.arange(n_grades), np.zeros(max(n_grades - 1, 0))
        price = np.multiply(weight, self.C, out=row_array(X, weight.shape))
        terms = grade_terms(X, grade, price, n_grades, numbers, numbers - 1)
        return ThresholdProblem(X, *terms, 1.0, level, self.ordered, self.n_jobs)
