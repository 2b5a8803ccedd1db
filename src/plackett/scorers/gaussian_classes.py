"""Expected gain under a Gaussian density of the features for each grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dense import dense
from plackett.scorers.base import Size, check_finite

__all__ = ["GaussianClassesScorer"]

#: Rows that are scored together.
_ROWS = 4096


@dataclass(frozen=True)
class GaussianClassesScorer:
    """Σ_y gain(y) P(y|x), from the whitening matrix, the mean and the constant log density of each grade."""

    kind: ClassVar[str] = "gaussian classes"
    list_aware: ClassVar[bool] = False
    #: (grades, features, features), lower triangular; (x − mean) times its transpose has identity covariance.
    roots: np.ndarray
    means: np.ndarray
    #: Logarithm of the prior and of the determinant of each grade.
    constants: np.ndarray
    gains: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("means", self.means.shape[1])

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {name: getattr(self, name) for name in ("roots", "means", "constants", "gains")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> GaussianClassesScorer:
        """The scorer that `to_arrays` wrote."""
        roots, means, constants, gains = (
            np.array(arrays.get(name)) for name in ("roots", "means", "constants", "gains")
        )
        grades = gains.size
        right = roots.ndim == 3 and roots.shape == (grades, *means.shape[1:] * 2) and means.shape[:1] == (grades,)
        right &= constants.shape == gains.shape == (grades,)
        if not right or grades == 0 or any(a.dtype != np.float64 for a in (roots, means, constants, gains)):
            raise DataError("the densities of the generative model are damaged")
        known = np.where(constants == -np.inf, 0.0, constants)  # a grade that never occurs has −∞
        check_finite({"roots": roots, "means": means, "gains": gains, "constants": known})
        return cls(roots, means, constants, gains)
