"""Scores of a cascade: each stage is a ranker with its own features, and scores what the previous stage kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.scorers._members import Member, member_scores, pack_members, unlabelled, unpack_members
from plackett.scorers.nested import best_rows, lift

__all__ = ["CascadeScorer"]


@dataclass(frozen=True)
class CascadeScorer:
    """Rankers in order, the number of documents of a list that reach each later stage, and the columns of each stage.

    Parameters
    ----------
    rankers
        The stages.
    keep
        How many documents of a list go on after each stage except the last one. Documents tied with the last of them
        go on too.
    columns
        Numbers of the columns of each stage.
    """

    kind: ClassVar[str] = "cascade"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for members that need them.
    reads_relations: ClassVar[bool] = True
    rankers: tuple[Member, ...]
    keep: np.ndarray
    columns: tuple[np.ndarray, ...]

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: with more than one stage it does."""
        return len(self.rankers) > 1 or any(ranker.scorer_.list_aware for ranker in self.rankers)

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row. Documents that reached a later stage rank above those that did not."""
        return self.run(unlabelled(X, offsets, query_features, relations), n_jobs)[0]

    def run(self, data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, list[np.ndarray]]:
        """Score of each row, and the rows that reached each stage."""
        offsets = data.offsets
        rows = np.arange(data.n_rows)
        scores = self._stage(0, data, n_jobs)
        reached = [rows]
        for number, n in enumerate(self.keep.tolist(), 1):
            rows = best_rows(scores, rows, offsets, n)
            own = self._stage(number, some_rows(data, rows), n_jobs)
            scores = lift(scores, rows, own, offsets)
            reached.append(rows)
        return scores, reached

    def _stage(self, number: int, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        columns = self.columns[number]
        part = data.X if columns.size == data.n_features else data.X[:, columns]
        lists = unlabelled(part, data.offsets, data.query_features, data.relations)
        return member_scores(self.rankers[number], lists, n_jobs)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        ends = np.cumsum([0, *(columns.size for columns in self.columns)])
        own = {"keep": self.keep, "columns": np.concatenate(self.columns), "ends": ends}
        return own | pack_members(self.rankers)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> CascadeScorer:
        """The scorer that `to_arrays` wrote."""
        rankers = unpack_members(arrays)
        keep, flat, ends = (np.array(arrays[name], np.int64) for name in ("keep", "columns", "ends"))
        shapes = keep.shape == (len(rankers) - 1,) and flat.ndim == 1
        if not shapes or not offsets_fit(ends, flat.size, len(rankers)):
            raise DataError(f"a cascade of {len(rankers)} stages with sizes that do not fit them")
        if (keep < 1).any() or (flat < 0).any():
            raise DataError("a cascade that keeps nothing, or with columns below 0")
        columns = tuple(flat[a:b] for a, b in itertools.pairwise(ends.tolist()))
        for ranker, own in zip(rankers, columns, strict=True):
            if own.size != ranker.n_features_in_:
                raise DataError(f"a stage of a cascade has {own.size} columns for {ranker.n_features_in_} features")
        return cls(rankers, keep, columns)
