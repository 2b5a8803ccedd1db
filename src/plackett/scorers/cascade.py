"""Scores of a cascade: each stage is a ranker with its own features, and scores what the previous stage kept."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._files.checks import offsets_fit
from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.scorers._members import WithMembers, member_scores, trained, unlabelled
from plackett.scorers.base import Size
from plackett.scorers.fields import array, number
from plackett.scorers.member import Member
from plackett.scorers.nested import best_rows, lift

__all__ = ["CascadeScorer"]


@dataclass(frozen=True)
class CascadeScorer(WithMembers):
    """Rankers in order, the number of documents of a list that reach each later stage, and the columns of each stage.

    Parameters
    ----------
    members
        The stages.
    n_features
        Number of features of a document.
    keep
        How many documents of a list go on after each stage except the last one. Documents tied with the last of them
        go on too.
    flat, ends
        Numbers of the columns of each stage, one stage after the other, and where each stage's begin and end.
    """

    kind: ClassVar[str] = "cascade"
    members: tuple[Member, ...] = trained(same_features=False)
    n_features: int = number(least=1)
    keep: np.ndarray = array("members-1", np.int64, positive=True)
    flat: np.ndarray = array("columns", np.int64, least=0)
    ends: np.ndarray = array("members+1", np.int64)

    not_exportable: ClassVar[str] = (  # type: ignore[assignment]
        "looks at whole lists of documents, and engines score one document at a time; export its stages (members_) one "
        "by one, for the engine's own phases of ranking"
    )

    @classmethod
    def of(
        cls, n_features: int, members: Sequence[Member], keep: Sequence[int], columns: Sequence[np.ndarray]
    ) -> CascadeScorer:
        """The scorer of stages, with the columns of each."""
        ends = np.cumsum([0, *(own.size for own in columns)])
        return cls(tuple(members), n_features, np.array(keep, np.int64), np.concatenate(columns), ends)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.n_features)

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """Numbers of the columns of each stage."""
        return tuple(self.flat[a:b] for a, b in itertools.pairwise(self.ends.tolist()))

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: with more than one stage it does."""
        return len(self.members) > 1 or super().list_aware

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row. Documents that reached a later stage rank above those that did not."""
        return self.run(data, n_jobs)[0]

    def run(self, data: RankingDataset, n_jobs: int | None = None) -> tuple[np.ndarray, list[np.ndarray]]:
        """Score of each row, and the rows that reached each stage."""
        offsets = data.offsets
        rows = np.arange(data.n_rows)
        scores = self._stage(0, data, n_jobs)
        reached = [rows]
        for stage, n in enumerate(self.keep.tolist(), 1):
            rows = best_rows(scores, rows, offsets, n)
            own = self._stage(stage, some_rows(data, rows), n_jobs)
            scores = lift(scores, rows, own, offsets)
            reached.append(rows)
        return scores, reached

    def _stage(self, number: int, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        columns = self.columns[number]
        part = data.X if columns.size == data.n_features else data.X[:, columns]
        lists = unlabelled(part, data.offsets, data.query_features, data.relations)
        return member_scores(self.members[number], lists, n_jobs)

    def check(self) -> None:
        """Every stage has its columns."""
        fits = offsets_fit(self.ends, self.flat.size, len(self.members))
        self.check_that(
            fits and self.flat.max(initial=-1) < self.n_features, "array 'flat' names columns that are not there"
        )
        for member, own in zip(self.members, self.columns, strict=True):
            fits = own.size == member.n_features_in_
            self.check_that(fits, f"a stage has {own.size} columns for {member.n_features_in_} features")
