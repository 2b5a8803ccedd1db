"""Linear scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.base import Contributions, Importance, Scorer
from plackett.scorers.fields import array
from plackett.scorers.parts import Line, Part
from plackett.scorers.products import table_times

__all__ = ["LinearScorer"]


@dataclass(frozen=True)
class LinearScorer(Scorer):
    """Scores ``X @ weights + intercept``; one column of weights per output."""

    kind: ClassVar[str] = "linear"
    cheap: ClassVar[bool] = True
    hypothesis: ClassVar[str] = "linear scoring functions"
    weights: np.ndarray = array("features outputs")
    intercept: np.ndarray = array("outputs")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output; a score does not depend on the rows scored with it."""
        scores = table_times(X, self.weights, n_jobs)
        scores += self.intercept
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts."""
        return self.weights, self.intercept

    def used_features(self, n_features: int) -> np.ndarray:
        """The features with a weight."""
        return (self.weights != 0).any(axis=1)  # type: ignore[no-any-return]

    def contributions(self, X: Any, n_jobs: int | None = None) -> Contributions | None:
        """Weight times value; the base is the intercept."""
        if self.weights.shape != (X.shape[1], 1):
            return None
        weights = self.weights[:, 0]
        parts = X * weights if isinstance(X, np.ndarray) else X.multiply(weights).toarray()
        return Contributions(parts, float(self.intercept[0]), "linear")

    def relative_contributions(self, X: np.ndarray, background: np.ndarray) -> Contributions | None:
        """Weight times the distance from the mean of the background."""
        if self.weights.shape[1] != 1:
            return None
        weights = self.weights[:, 0]
        middle = background.mean(axis=0, dtype=np.float64)
        return Contributions((X - middle) * weights, float(middle @ weights + self.intercept[0]), "linear")

    def importance(self, X: Any) -> Importance:
        """Absolute weight times the standard deviation of the feature."""
        if isinstance(X, np.ndarray):
            variance = np.nanvar(X, axis=0, dtype=np.float64)
        else:
            from sklearn.utils.sparsefuncs import mean_variance_axis

            variance = mean_variance_axis(X, 0)[1]
        return Importance(np.abs(self.weights).sum(axis=1) * np.sqrt(variance), "|weight| × standard deviation")

    @property
    def not_exportable(self) -> str:
        """Several outputs are no score."""
        outputs = self.weights.shape[1]
        return "" if outputs == 1 else f"has {outputs} outputs per document; engines expect one score"

    def export_parts(self) -> list[tuple[float, Part]]:
        """One line."""
        return [(1.0, Line(self.weights[:, 0], float(self.intercept[0])))]
