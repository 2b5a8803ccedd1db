"""Several linear scores as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.borda import Borda
from plackett.aggregation.lists import RankLists
from plackett.scorers._products import table_times
from plackett.scorers.base import Size, check_finite

__all__ = ["HyperplanesScorer"]


@dataclass(frozen=True)
class HyperplanesScorer:
    """Weighted sum of several linear scores, or of Borda's counts by them."""

    kind: ClassVar[str] = "hyperplanes"
    weights: np.ndarray
    alpha: np.ndarray
    borda: np.ndarray

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: counts of several machines do."""
        return bool(self.borda[0]) and self.alpha.size > 1

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("weights", self.weights.shape[0])

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {"weights": self.weights, "alpha": self.alpha, "borda": self.borda}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> HyperplanesScorer:
        """The scorer that `to_arrays` wrote."""
        if not {"weights", "alpha", "borda"} <= set(arrays):
            raise DataError("the hyperplanes are damaged")
        weights, alpha, borda = (np.array(arrays[name], np.float64) for name in ("weights", "alpha", "borda"))
        if weights.ndim != 2 or alpha.shape != weights.shape[1:] or borda.shape != (1,):
            raise DataError(f"hyperplanes of shape {weights.shape} with weights of shape {alpha.shape}")
        check_finite({"weights": weights, "alpha": alpha})
        return cls(weights, alpha, borda)
