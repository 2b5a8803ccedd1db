"""A score and thresholds that cut it into grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.parts import Line, Part
from plackett.scorers.products import table_times

__all__ = ["OrdinalScorer"]


@dataclass(frozen=True)
class OrdinalScorer(Scorer):
    """Scores ``X @ weights``; the grade of a document is the number of thresholds that its score reaches.

    >>> scorer = OrdinalScorer(np.ones(1), np.array([0.0, 2.0]), np.array([0.0, 1.0, 5.0]))
    >>> scorer.labels_of(scorer.predict(np.array([[-1.0], [0.0], [3.0]], np.float32), None)).tolist()
    [0.0, 1.0, 5.0]
    """

    kind: ClassVar[str] = "ordinal"
    weights: np.ndarray = array("features")
    thresholds: np.ndarray = array("labels-1", finite=False)
    labels: np.ndarray = array("labels")

    def predict(self, X: Any, offsets: np.ndarray | None, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        return table_times(X, self.weights[:, None], n_jobs)[:, 0]

    def labels_of(self, scores: np.ndarray) -> np.ndarray:
        """The label that corresponds to each score."""
        return self.labels[np.searchsorted(self.thresholds, scores, side="right")]

    def export_parts(self) -> list[tuple[float, Part]]:
        """One line; grades are not exported."""
        return [(1.0, Line(self.weights, 0.0))]

    def check(self) -> None:
        """Thresholds ascend."""
        self.check_that((np.diff(self.thresholds) >= 0).all(), f"thresholds {self.thresholds.tolist()}")
