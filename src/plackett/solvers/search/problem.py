"""The mean of a measure as a function of the weights of a linear model."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.mapped import row_array, row_blocks
from plackett.data.moments import spread
from plackett.losses.base import BoundLoss
from plackett.losses.blocks import bind_in_blocks
from plackett.losses.pairwise.logistic import Logistic
from plackett.measures.base import Measure
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.measure_objective import MeasureObjective

#: Scores of this width use the bend of the logistic function.
_SIGMOID_RANGE = 6.0


class LinearProblem:
    """The problem as a solver sees it: weights of standardised features, and the values of many of them at once.

    The value is the weighted mean of the measure over the queries, negated where smaller is better (see
    `plackett.solvers.measure_objective.MeasureObjective`). It does not change when all weights are multiplied by a
    positive number.
    """

    def __init__(self, data: RankingDataset, measure: Measure, standardize: bool, n_jobs: int | None) -> None:
        self.data, self.n_jobs = data, n_jobs
        self.score_buffer: np.ndarray | None = None
        self.lists = MeasureObjective(data, measure, n_jobs)
        self.scale: np.ndarray = np.ones(data.n_features)
        if standardize:
            self.scale = spread(data.X, self.lists.row_weight)

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.data.n_features

    def scores(self, weights: np.ndarray, X: Any = None) -> np.ndarray:
        """Score of each document, one row for each row of weights; of the training data unless others are given."""
        rows, out = np.atleast_2d(weights), None
        if X is None:
            X, out = self.data.X, row_array(self.data.X, (self.data.n_rows, len(rows)))
        scores = table_times(X, (rows / self.scale).T, self.n_jobs, out).T
        return np.ascontiguousarray(scores[0] if weights.ndim == 1 else scores)

    def values(self, weights: np.ndarray) -> np.ndarray:
        """Value of each row of weights."""
        return self.lists.values(lambda some, rows: self.scores(weights[some], self.data.X[rows]), len(weights))

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """Weights, or rows of them, with absolute values that sum to 1: the same rankings."""
        total = np.abs(weights).sum(axis=-1, keepdims=True)
        return weights / np.where(total > 0.0, total, 1.0)

    def promising(self, scores: np.ndarray) -> np.ndarray:
        """The direction in which the logistic loss of the pairs falls fastest."""
        width = float(np.ptp(scores))
        if width > 0.0:
            if self.score_buffer is None:
                self.score_buffer = row_array(self.data.X, scores.shape)
            scores = np.multiply(scores, _SIGMOID_RANGE / width, out=self.score_buffer)
        gradient = self._pairs.evaluate(scores, value=False)[1]
        return -transposed_times(self.data.X, gradient[:, None], self.n_jobs)[:, 0] / self.scale

    @cached_property
    def _pairs(self) -> BoundLoss:
        return bind_in_blocks(Logistic(normalize=True), self.data, self.n_jobs)

    @cached_property
    def _by_feature(self) -> Any:
        X = self.data.X
        if not isinstance(X, np.ndarray):
            return X.tocsc()
        columns = row_array(X, X.shape[::-1], X.dtype)
        for rows in row_blocks(X.shape[0]):
            columns[:, rows] = X[rows].T
        return columns.T

    def column(self, feature: int, out: np.ndarray | None = None) -> np.ndarray:
        """What one unit of a weight adds to the score of each document."""
        X = self._by_feature
        values = X[:, feature] if isinstance(X, np.ndarray) else dense(X[:, [feature]])[:, 0]
        return np.divide(values, self.scale[feature], out=out, dtype=np.float64)
