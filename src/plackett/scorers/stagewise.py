"""Scores of the coset-permutation stagewise model."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.cps import CPS
from plackett.aggregation.lists import RankLists
from plackett.data.dense import dense
from plackett.scorers.base import Size

__all__ = ["StagewiseScorer"]


class StagewiseScorer:
    """Documents of each query in the order in which the stages choose them: n for the first, then n − 1, …"""

    kind: ClassVar[str] = "stagewise"
    list_aware: ClassVar[bool] = True

    def __init__(self, theta: np.ndarray) -> None:
        self.theta = theta

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("theta", self.theta.size)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; all 0 if every list has weight 0."""
        if not self.theta.any():
            return np.zeros(X.shape[0])
        return CPS(weights=tuple(self.theta)).scores(feature_lists(X, offsets), n_jobs=n_jobs)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The weights of the lists."""
        return {"theta": self.theta}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
        theta = np.array(arrays["theta"], np.float64)
        if theta.ndim != 1 or not np.isfinite(theta).all():
            raise DataError(f"the weights of a stagewise model must be finite numbers, got shape {theta.shape}")
        return cls(theta)


def feature_lists(X: Any, offsets: np.ndarray) -> RankLists:
    """Each feature as a list that ranks the documents of every query."""
    values = np.array(dense(X), np.float64)
    names = tuple(str(i) for i in range(values.shape[1]))
    return RankLists(values, np.array(offsets, np.int64), np.arange(offsets.size - 1), None, names)
