"""Scores of a ranker on the products of document and query features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers._members import member_scores, trained, unlabelled
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import array
from plackett.scorers.member import Member
from plackett.scorers.products import table_times
from plackett.scorers.query_map import QueryMap, query_features
from plackett.scorers.routed import features_of

__all__ = ["TwoLayerScorer"]


def products(X: Any, offsets: np.ndarray, z: np.ndarray) -> Any:
    """The features and their products with each query feature: x, x z₁, x z₂, …"""
    if z.shape[1] == 0:
        return X
    rows = np.repeat(z.astype(np.float32), np.diff(offsets), axis=0)
    if isinstance(X, np.ndarray):
        return np.hstack([X, *(X * rows[:, [c]] for c in range(z.shape[1]))])
    from scipy.sparse import diags, hstack

    return hstack([X, *(diags(rows[:, c]) @ X for c in range(z.shape[1]))], format="csr", dtype=np.float32)


@dataclass(frozen=True)
class TwoLayerScorer(Scorer):
    """A ranker trained on products, and the map from a query to the factors of its documents."""

    kind: ClassVar[str] = "two_layer"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for base rankers that need them.
    reads_relations: ClassVar[bool] = True
    #: The one ranker.
    members: tuple[Member, ...] = trained()
    query_map: QueryMap = query_features()
    #: From the standardised query features to those used, features × components.
    projection: np.ndarray = array("z components")

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: true if there are query features."""
        return self.query_map.n_features > 0 or self.members[0].scorer_.list_aware

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("members", self.members[0].n_features_in_ // (1 + self.projection.shape[1]))

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row."""
        z = features_of(self, X, offsets, query_features)
        return self.score(self.choose(X, offsets, z), X, offsets, n_jobs, query_features, relations)

    def choose(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The query layer: the factors of the documents of each query."""
        return table_times(np.ascontiguousarray(z, np.float32), self.projection)

    def score(
        self,
        chosen: np.ndarray,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """The document layer."""
        data = unlabelled(products(X, offsets, chosen), offsets, query_features, relations)
        return member_scores(self.members[0], data, n_jobs)

    def check(self) -> None:
        """The ranker has all products of features."""
        features, times = self.members[0].n_features_in_, 1 + self.projection.shape[1]
        fits = len(self.members) == 1 and features % times == 0
        self.check_that(fits, f"array 'projection' makes {times} features of one, but the ranker has {features}")
