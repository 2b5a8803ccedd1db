"""Gaussian processes as scorers: predictive means, and the whole posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dense import dense
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array

__all__ = ["GaussianProcessScorer"]

#: Rows that are scored at once.
ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class GaussianProcessScorer(Scorer):
    """Predictive mean of a Gaussian process: a sum of bumps around some documents."""

    kind: ClassVar[str] = "gaussian_process"
    hypothesis: ClassVar[str] = "Gaussian process means"
    center: np.ndarray = array("features")
    spread: np.ndarray = array("features")
    points: np.ndarray = array("points features")
    heights: np.ndarray = array("points")
    length_scale: np.ndarray = array("1", positive=True)

    def kernel(self, X: Any) -> np.ndarray:
        """Covariance of each row with each point; the features are standardised first."""
        from scipy.spatial.distance import cdist

        X = np.asarray(dense(X), np.float64)
        far = cdist((X - self.center) / self.spread, self.points, "sqeuclidean")
        return np.exp(-0.5 * far / self.length_scale[0] ** 2)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Predictive mean of each row."""
        out = np.empty(X.shape[0])
        for start in range(0, out.size, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            # summed row by row: a score must not depend on the other rows, which BLAS does not guarantee
            out[rows] = (self.kernel(X[rows]) * self.heights).sum(axis=1)
        return out

    def check(self) -> None:
        """No feature is divided by 0."""
        self.check_that(self.spread.all(), "array 'spread' has a zero")


def spread_points(X: Any, n_points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Dense table of features, their mean and spread, and at most ``n_points`` standardised rows spread over them.

    Duplicate documents say nothing new about where documents lie, so only distinct rows count.
    """
    table = np.asarray(dense(X), np.float64)
    different = np.unique(table, axis=0)
    center, spread = different.mean(axis=0), different.std(axis=0)
    spread = np.where(spread > 1e-7 * np.abs(center), spread, 1.0)
    taken = np.unique(np.linspace(0, different.shape[0] - 1, n_points).round().astype(int))
    return table, center, spread, (different[taken] - center) / spread
