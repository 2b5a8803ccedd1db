"""Expected gain under a Gaussian density of the features for each grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dense import dense
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array

__all__ = ["GaussianClassesScorer"]

#: Rows that are scored together.
_ROWS = 4096


@dataclass(frozen=True)
class GaussianClassesScorer(Scorer):
    """Σ_y gain(y) P(y|x), from the whitening matrix, the mean and the constant log density of each grade."""

    kind: ClassVar[str] = "gaussian_classes"
    #: (grades, features, features), lower triangular; (x − mean) times its transpose has identity covariance.
    roots: np.ndarray = array("grades features features")
    means: np.ndarray = array("grades features")
    #: Logarithm of the prior and of the determinant of each grade; −∞ for a grade that never occurs.
    constants: np.ndarray = array("grades", finite=False)
    gains: np.ndarray = array("grades")

    def log_densities(self, X: Any) -> np.ndarray:
        """Log P(x, y) up to a constant, (rows, grades)."""
        out = np.empty((X.shape[0], self.gains.size))
        for start in range(0, X.shape[0], _ROWS):
            rows = dense(X[start : start + _ROWS]).astype(np.float64)
            for y, (root, mean, constant) in enumerate(zip(self.roots, self.means, self.constants, strict=True)):
                # column by column: in a matrix product the rounding of a row would depend on its neighbours
                square = np.zeros(rows.shape[0])
                for j in range(mean.size):
                    square += ((rows[:, : j + 1] - mean[: j + 1]) * root[j, : j + 1]).sum(axis=1) ** 2
                out[start : start + _ROWS, y] = constant - 0.5 * square
        return out

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Expected gain of each row."""
        log = self.log_densities(X)
        share = np.exp(log - log.max(axis=1, keepdims=True))
        return (share * self.gains).sum(axis=1) / share.sum(axis=1)

    def check(self) -> None:
        """There is a grade, and its densities are numbers."""
        constants = self.constants[self.constants != -np.inf]
        self.check_that(self.gains.size > 0 and np.isfinite(constants).all(), "no grade, or one without a density")
