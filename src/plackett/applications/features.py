"""Features of an application: from lists of candidates to a dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.applications.lists import CandidateLists
from plackett.data.dataset import RankingDataset

__all__ = ["Features"]


class Features(ABC):
    """Base class: a subclass has ``names`` and `matrix`, which computes a row of numbers for each candidate.

    A subclass that learns something from training lists also has `fit`, and `state` and `restore` so that it can be
    saved. Parameters are the fields of a dataclass.

    Examples
    --------
    >>> class Lengths(Features):
    ...     names = ("length", "difference")
    ...     def matrix(self, lists):
    ...         lengths = np.array([len(item) for item in lists.items])
    ...         return np.column_stack([lengths, lengths - [len(query) for query in lists.row_queries]])
    >>> Lengths().transform(CandidateLists.of([("bird", ["a bird", "egg"])])).X.tolist()
    [[6.0, 2.0], [3.0, -1.0]]
    """

    #: Names of the columns.
    names: ClassVar[tuple[str, ...]] = ()

    def fit(self, lists: CandidateLists) -> Self:
        """Learn from judged lists; most features have nothing to learn."""
        return self

    @abstractmethod
    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row of numbers for each candidate."""

    def transform(self, lists: CandidateLists) -> RankingDataset:
        """A dataset with the lists as queries; a document's id is its position in its list, from 0."""
        X = np.asarray(self.matrix(lists), np.float64)
        if X.shape != (len(lists.items), len(self.names)):
            expected = f"{len(lists.items)} items and {len(self.names)} names"
            raise DataError(f"{type(self).__name__}: the matrix has shape {X.shape}, but there are {expected}")
        qid = np.repeat(lists.qids, np.diff(lists.offsets))
        return RankingDataset.from_arrays(X, lists.labels, qid, docids=lists.positions, feature_names=self.names)

    def fit_transform(self, lists: CandidateLists) -> RankingDataset:
        """`fit`, and the features of the training lists as a ranker should see them.

        Override it where `fit` uses labels: the ranker must see what such a feature is worth on lists that it was not
        learned from.
        """
        return self.fit(lists).transform(lists)

    # -------------------------------------------------------------------------------------------------------- on disk

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned, by name: arrays of numbers, and values that JSON has."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """The features with the state that `state` returned."""
        return cls(**state)
