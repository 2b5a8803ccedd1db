"""Linear scores whose weights a network computes from the features of the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.products import table_times
from plackett.scorers.query_map import QueryMap, query_features
from plackett.scorers.routed import features_of

__all__ = ["CoupleNetScorer"]


@dataclass(frozen=True)
class CoupleNetScorer(Scorer):
    """Scores x · (w₀ + B tanh(A z + a))."""

    kind: ClassVar[str] = "couple_net"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    list_aware: ClassVar[bool] = True
    query_map: QueryMap = query_features()
    #: Columns w₀ and B: features × (1 + hidden).
    document_layer: np.ndarray = array("features units")
    #: A and, in the last row, a: (query features + 1) × hidden.
    query_layer: np.ndarray = array("z+1 units-1")

    def predict(
        self, X: Any, offsets: np.ndarray, n_jobs: int | None = None, query_features: np.ndarray | None = None
    ) -> np.ndarray:
        """Score of each row."""
        z = features_of(self, X, offsets, query_features)
        return self.score(self.choose(X, offsets, z), X, offsets, n_jobs)

    def choose(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The hidden units of each query, the first of them 1."""
        hidden = np.tanh(table_times(np.ascontiguousarray(z, np.float32), self.query_layer[:-1]) + self.query_layer[-1])
        return np.hstack([np.ones((len(z), 1)), hidden])

    def score(self, chosen: np.ndarray, X: Any, offsets: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Score of each row by the weights of its query."""
        parts = table_times(X, self.document_layer, n_jobs)
        return (parts * np.repeat(chosen, np.diff(offsets), axis=0)).sum(axis=1)
