"""Several linear scores as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.aggregation.borda import Borda
from plackett.aggregation.lists import RankLists
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.parts import Line, Part
from plackett.scorers.products import table_times

__all__ = ["HyperplanesScorer"]


@dataclass(frozen=True)
class HyperplanesScorer(Scorer):
    """Weighted sum of several linear scores, or of Borda's counts by them."""

    kind: ClassVar[str] = "hyperplanes"
    weights: np.ndarray = array("features machines")
    alpha: np.ndarray = array("machines")
    borda: np.ndarray = array("1")

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: counts of several machines do."""
        return bool(self.borda[0]) and self.alpha.size > 1

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        if not self.list_aware or X.shape[0] == 0 or not self.alpha.any():
            return (table_times(X, self.weights, n_jobs) * self.alpha).sum(axis=1)
        return Borda(weights=tuple(self.alpha)).scores(self.lists(X, offsets, n_jobs), n_jobs=n_jobs)

    def lists(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> RankLists:
        """The rankings by each machine."""
        values = table_times(X, self.weights, n_jobs)
        names = tuple(f"machine {i}" for i in range(values.shape[1]))
        return RankLists(values, np.array(offsets, np.int64), np.arange(offsets.size - 1), None, names)

    def export_parts(self) -> list[tuple[float, Part]]:
        """One line, the sum of all."""
        return [(1.0, Line(self.weights @ self.alpha, 0.0))]
