"""A score and thresholds that cut it into grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._products import table_times
from plackett.scorers.base import Size, check_finite

__all__ = ["OrdinalScorer"]


@dataclass(frozen=True)
class OrdinalScorer:
    """Scores ``X @ weights``; the grade of a document is the number of thresholds that its score reaches.

    >>> scorer = OrdinalScorer(np.ones(1), np.array([0.0, 2.0]), np.array([0.0, 1.0, 5.0]))
    >>> scorer.labels_of(scorer.predict(np.array([[-1.0], [0.0], [3.0]], np.float32), None)).tolist()
    [0.0, 1.0, 5.0]
    """

    kind: ClassVar[str] = "ordinal"
    list_aware: ClassVar[bool] = False
    weights: np.ndarray
    thresholds: np.ndarray
    labels: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("weights", self.weights.size)

    def predict(self, X: Any, offsets: np.ndarray | None, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        return table_times(X, self.weights[:, None], n_jobs)[:, 0]

    def labels_of(self, scores: np.ndarray) -> np.ndarray:
        """The label that corresponds to each score."""
        return self.labels[np.searchsorted(self.thresholds, scores, side="right")]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {"weights": self.weights, "thresholds": self.thresholds, "labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> OrdinalScorer:
        """The scorer that `to_arrays` wrote."""
        weights, thresholds, labels = (np.array(arrays.get(name)) for name in ("weights", "thresholds", "labels"))
        for array in (weights, thresholds, labels):
            if array.dtype != np.float64 or array.ndim != 1:
                raise DataError("the weights or thresholds of the ordinal model are damaged")
        if labels.size != thresholds.size + 1 or not (np.diff(thresholds) >= 0).all():
            raise DataError(f"an ordinal model of {labels.size} labels with thresholds {thresholds.tolist()}")
        check_finite({"weights": weights, "labels": labels})
        return cls(weights, thresholds, labels)
