"""Gaussian processes as scorers: predictive means, and the whole posterior."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dense import dense
from plackett.scorers.base import Size, check_finite

__all__ = ["GaussianPosterior", "GaussianProcessScorer"]

_ROWS = 1024  # scored at once


@dataclass(frozen=True)
class GaussianProcessScorer:
    """Predictive mean of a Gaussian process: a sum of bumps around some documents."""

    kind: ClassVar[str] = "gaussian_process"
    list_aware: ClassVar[bool] = False
    center: np.ndarray
    spread: np.ndarray
    points: np.ndarray
    heights: np.ndarray
    length_scale: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("center", self.center.size)

    def kernel(self, X: Any) -> np.ndarray:
        """Covariance of each row with each point; the features are standardised first."""
        from scipy.spatial.distance import cdist

        X = np.asarray(dense(X), np.float64)
        far = cdist((X - self.center) / self.spread, self.points, "sqeuclidean")
        return np.exp(-0.5 * far / self.length_scale[0] ** 2)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Predictive mean of each row."""
        out = np.empty(X.shape[0])
        for start in range(0, out.size, _ROWS):
            rows = slice(start, start + _ROWS)
            # summed row by row: a score must not depend on the other rows, which BLAS does not guarantee
            out[rows] = (self.kernel(X[rows]) * self.heights).sum(axis=1)
        return out

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
        missing = [field.name for field in fields(cls) if field.name not in arrays]
        if missing:
            raise DataError(f"the Gaussian process is damaged: it has no {missing[0]}")
        scorer = cls(**{field.name: np.array(arrays[field.name], np.float64) for field in fields(cls)})
        m, d = scorer.points.shape if scorer.points.ndim == 2 else (-1, -1)
        if scorer.heights.shape != (m,) or scorer.center.shape != (d,) or scorer.spread.shape != (d,):
            raise DataError(f"a Gaussian process of points {scorer.points.shape} with heights {scorer.heights.shape}")
        if scorer.length_scale.shape != (1,) or not scorer.length_scale[0] > 0 or (scorer.spread == 0).any():
            raise DataError("the length_scale or the spread of the Gaussian process is damaged")
        check_finite(
            {name: getattr(scorer, name) for name in ("center", "spread", "points", "heights", "length_scale")}
        )
        return scorer


@dataclass(frozen=True)
class GaussianPosterior(GaussianProcessScorer):
    r"""A Gaussian process given observations: mean :math:`k(x)^\top h` and variance :math:`1 - k(x)^\top A\,k(x)`.

    With the noise of the observations, and thresholds between grades where the observations are grades.
    """

    kind: ClassVar[str] = "gaussian_posterior"
    shrink: np.ndarray
    noise: np.ndarray
    thresholds: np.ndarray
    grades: np.ndarray

    def variance(self, X: Any) -> np.ndarray:
        """Posterior variance of each row."""
        out = np.empty(X.shape[0])
        for start in range(0, out.size, _ROWS):
            rows = slice(start, start + _ROWS)
            near = self.kernel(X[rows])
            out[rows] = 1.0 - (near @ self.shrink * near).sum(axis=1)
        return np.maximum(out, 0.0)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
        scorer = super().from_arrays(arrays)
        if scorer.shrink.shape != 2 * scorer.heights.shape or scorer.noise.shape != (1,):
            raise DataError(f"a Gaussian process of {scorer.heights.size} points with a table {scorer.shrink.shape}")
        if scorer.grades.size and scorer.thresholds.shape != (scorer.grades.size - 1,):
            raise DataError(
                f"array 'thresholds' of the Gaussian process has shape {scorer.thresholds.shape} for "
                f"{scorer.grades.size} grades"
            )
        return scorer


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
