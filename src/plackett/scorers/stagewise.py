"""Scores of the coset-permutation stagewise model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.aggregation.cps import CPS
from plackett.aggregation.lists import RankLists
from plackett.data.dense import dense
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array

__all__ = ["StagewiseScorer"]


@dataclass(frozen=True)
class StagewiseScorer(Scorer):
    """Documents of each query in the order in which the stages choose them: n for the first, then n − 1, …"""

    kind: ClassVar[str] = "stagewise"
    list_aware: ClassVar[bool] = True
    theta: np.ndarray = array("features")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; all 0 if every list has weight 0."""
        if not self.theta.any():
            return np.zeros(X.shape[0])
        return CPS(weights=tuple(self.theta)).scores(feature_lists(X, offsets), n_jobs=n_jobs)


def feature_lists(X: Any, offsets: np.ndarray) -> RankLists:
    """Each feature as a list that ranks the documents of every query."""
    values = np.array(dense(X), np.float64)
    names = tuple(str(i) for i in range(values.shape[1]))
    return RankLists(values, np.array(offsets, np.int64), np.arange(offsets.size - 1), None, names)
