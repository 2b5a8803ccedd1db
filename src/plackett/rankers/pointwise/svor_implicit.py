"""Support vector ordinal regression with implicit constraints on the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.mapped import row_array, row_blocks
from plackett.rankers.pointwise._ordinal_svm import OrdinalSVM
from plackett.solvers.threshold_svm import ThresholdProblem

__all__ = ["SVORImplicit"]


@dataclass(kw_only=True, eq=False, repr=False)
class SVORImplicit(OrdinalSVM):
    r"""Ordinal SVM in which every document counts at every threshold.

    .. math:: \min_{w, \theta} \tfrac12 \lVert w \rVert^2 + C \sum_k \Big( \sum_{y_j \le k} \max(0, 1 + s_j - \theta_k)
              + \sum_{y_j > k} \max(0, 1 - s_j + \theta_k) \Big), \qquad s_j = w \cdot x_j

    This is the all-threshold loss with a hinge. The best thresholds are in order without an explicit constraint:
    swapping two that are not would help the documents between them and change nothing for the others. This requires
    that a document has one weight for all thresholds. With `balance` it does not, so the thresholds are kept in order
    explicitly.

    Examples
    --------
    >>> ranker = SVORImplicit().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.rank([[2.0], [3.0]], qid=[1, 1])
    array([2, 1])

    References
    ----------
    Chu, Keerthi: New approaches to support vector ordinal regression. ICML 2005.
    """

    def make_problem(self, X: Any, grade: np.ndarray, weight: np.ndarray, n_grades: int) -> ThresholdProblem:
        """Each document with each threshold."""
        n = max(n_grades - 1, 0)
        row, threshold = (row_array(X, (grade.size, n), np.int64) for _ in range(2))
        side, cost = (row_array(X, (grade.size, n)) for _ in range(2))
        for rows in row_blocks(grade.size):
            row[rows], threshold[rows] = np.arange(rows.start, rows.stop)[:, None], np.arange(n)
            side[rows] = np.where(grade[rows, None] > np.arange(n), 1.0, -1.0)
            cost[rows] = self.C * weight[rows, None]
        row, threshold, side, cost = (part.reshape(-1) for part in (row, threshold, side, cost))
        return ThresholdProblem(X, row, threshold, side, cost, 1.0, np.zeros(n), self.balance, self.n_jobs)
