"""Scores by a ranker trained for each query, on its nearest training queries."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.scorers._members import Member, member_scores, unlabelled, unpack_base
from plackett.scorers._training_data import pack_data, unpack_data
from plackett.scorers.base import Size
from plackett.scorers.plain_values import to_plain
from plackett.scorers.query_map import QueryMap
from plackett.scorers.routed import features_of
from plackett.scorers.routers import nearest

__all__ = ["KNNOnlineScorer"]


@dataclass(frozen=True)
class KNNOnlineScorer:
    """The training data, and a copy of the base ranker to train; trained rankers are kept by their neighbours."""

    kind: ClassVar[str] = "knn_online"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for base rankers that need them.
    reads_relations: ClassVar[bool] = True
    base: Member
    data: RankingDataset
    query_map: QueryMap
    points: np.ndarray
    k: int
    max_models: int
    #: Rankers by their neighbours, the least recently used first. Not stored.
    models: OrderedDict[bytes, Member] = field(default_factory=OrderedDict, compare=False)

    list_aware: ClassVar[bool] = True

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("X", self.data.n_features)

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

    def choose(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> list[tuple[np.ndarray, Member]]:
        """The rankers for the queries, trained if needed, each with the queries that share it."""
        near = np.sort(nearest(self.points, z, self.k), axis=1)
        sets, which = np.unique(near, axis=0, return_inverse=True)
        which = which.ravel()
        return [(np.flatnonzero(which == i), self._model(chosen)) for i, chosen in enumerate(sets)]

    def _model(self, queries: np.ndarray) -> Member:
        key = queries.astype(np.int64).tobytes()
        known = self.models.pop(key, None)
        if known is None:
            part = self.data if queries.size == self.data.n_queries else self.data.select(queries)
            known = self.base.trained_copy(part)
        self.models[key] = known
        while len(self.models) > self.max_models:
            self.models.popitem(last=False)
        return known

    def score(
        self,
        chosen: list[tuple[np.ndarray, Member]],
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row by the ranker of its query."""
        whole, scores = unlabelled(X, offsets, query_features, relations), np.zeros(X.shape[0])
        for queries, ranker in chosen:
            part = whole.select(queries)
            rows = np.arange(part.n_rows) + np.repeat(offsets[queries] - part.offsets[:-1], part.group)
            scores[rows] = member_scores(ranker, part, n_jobs)
        return scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays: the training data and the parameters of the base ranker."""
        text = json.dumps(to_plain(self.base, "base"), ensure_ascii=False).encode()
        arrays = {
            "base": np.frombuffer(text, np.uint8),
            "points": self.points,
            "k": np.array([self.k, self.max_models]),
        }
        return arrays | pack_data(self.data) | self.query_map.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> KNNOnlineScorer:
        """The scorer that `to_arrays` wrote."""
        base = unpack_base(json.loads(arrays["base"].tobytes()))
        points, sizes = (np.array(arrays[name]) for name in ("points", "k"))
        if sizes.shape != (2,):
            raise DataError("the number of neighbours is damaged")
        query_map, data = QueryMap.from_arrays(arrays), unpack_data(arrays)
        if points.shape != (data.n_queries, query_map.n_features) or points.dtype != np.float64:
            raise DataError(f"{data.n_queries} training queries with features of shape {points.shape}")
        if not (1 <= sizes[0] <= data.n_queries and sizes[1] >= 1):
            raise DataError(f"{sizes[0]} neighbours among {data.n_queries} training queries")
        return cls(base, data, query_map, points, int(sizes[0]), int(sizes[1]))
