"""Linear scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._products import table_times
from plackett.scorers.base import Size, check_finite

__all__ = ["LinearScorer"]


@dataclass(frozen=True)
class LinearScorer:
    """Scores ``X @ weights + intercept``; one column of weights per output."""

    kind: ClassVar[str] = "linear"
    list_aware: ClassVar[bool] = False
    weights: np.ndarray
    intercept: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("weights", *self.weights.shape)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output; a score does not depend on the rows scored with it."""
        scores = table_times(X, self.weights, n_jobs)
        scores += self.intercept
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {"weights": self.weights, "intercept": self.intercept}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> LinearScorer:
        """The scorer that `to_arrays` wrote."""
        weights, intercept = (np.array(arrays.get(name)) for name in ("weights", "intercept"))
        if weights.dtype != np.float64 or weights.ndim != 2 or intercept.dtype != np.float64:
            raise DataError("the weights of the linear model are damaged")
        check_finite({"weights": weights, "intercept": intercept})
        if intercept.shape != weights.shape[1:]:
            raise DataError(f"a linear model of {weights.shape[1]} outputs with intercepts of shape {intercept.shape}")
        return cls(weights, intercept)
