"""Predictive mean and variance of a Gaussian process given observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.fields import array
from plackett.scorers.gaussian_process import ROWS_AT_ONCE, GaussianProcessScorer

__all__ = ["GaussianPosterior"]


@dataclass(frozen=True)
class GaussianPosterior(GaussianProcessScorer):
    r"""A Gaussian process given observations: mean :math:`k(x)^\top h` and variance :math:`1 - k(x)^\top A\,k(x)`.

    With the noise of the observations, and thresholds between grades where the observations are grades.
    """

    kind: ClassVar[str] = "gaussian_posterior"
    shrink: np.ndarray = array("points points", finite=False)
    noise: np.ndarray = array("1", finite=False)
    thresholds: np.ndarray = array("thresholds", finite=False)
    grades: np.ndarray = array("grades", finite=False)

    def variance(self, X: Any) -> np.ndarray:
        """Posterior variance of each row."""
        out = np.empty(X.shape[0])
        for start in range(0, out.size, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            near = self.kernel(X[rows])
            out[rows] = 1.0 - (near @ self.shrink * near).sum(axis=1)
        return np.maximum(out, 0.0)

    def check(self) -> None:
        """There is a threshold between any two grades."""
        super().check()
        fits = self.grades.size == 0 or self.thresholds.size == self.grades.size - 1
        self.check_that(fits, f"array 'thresholds' has {self.thresholds.size} entries for {self.grades.size} grades")
