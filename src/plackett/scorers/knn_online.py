"""Scores by a ranker trained for each query, on its nearest training queries."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.scorers._members import Trainable, is_trainable, member_scores, unlabelled
from plackett.scorers._training_data import dataset
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import array, number, plain
from plackett.scorers.member import Member
from plackett.scorers.query_map import QueryMap, query_features
from plackett.scorers.routed import features_of
from plackett.scorers.routers import nearest

__all__ = ["KNNOnlineScorer"]


@dataclass(frozen=True)
class KNNOnlineScorer(Scorer):
    """The training data, and a copy of the base ranker to train; trained rankers are kept by their neighbours."""

    kind: ClassVar[str] = "knn_online"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for base rankers that need them.
    reads_relations: ClassVar[bool] = True
    trains: ClassVar[bool] = True
    base: Trainable = plain(is_trainable)
    data: RankingDataset = dataset()
    query_map: QueryMap = query_features()
    points: np.ndarray = array("queries z")
    k: int = number(least=1)
    max_models: int = number(least=1)
    #: Rankers by their neighbours, the least recently used first. Not stored.
    models: OrderedDict[bytes, Member] = field(default_factory=OrderedDict, compare=False)

    list_aware: ClassVar[bool] = True

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("X", self.data.n_features)

    def check(self) -> None:
        """There are as many neighbours."""
        self.check_that(self.k <= self.data.n_queries, f"{self.k} neighbours among {self.data.n_queries} queries")

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
