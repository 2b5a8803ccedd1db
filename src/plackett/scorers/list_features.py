"""A blend of rankers that also sees how each feature compares with the other documents of the list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, parameter
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.mapped import query_blocks
from plackett.data.scaling import scale_queries, with_relative_names
from plackett.scorers._members import WithMembers
from plackett.scorers.base import Size
from plackett.scorers.blend import BlendScorer
from plackett.scorers.fields import array, inner, number
from plackett.scorers.member import Member

__all__ = ["ListFeaturesScorer"]


def relative_columns(data: RankingDataset, left_out: tuple[int, ...] = ()) -> np.ndarray:
    """The features that differ within lists, less those to leave out: only these can be compared within a list.

    >>> data = RankingDataset.from_arrays([[1, 5], [2, 5], [3, 6]], [0, 1, 0], qid=[1, 1, 2])
    >>> relative_columns(data).tolist()
    [0]
    """
    starts = data.offsets[:-1][data.group > 0]
    if starts.size == 0:
        return np.empty(0, np.int64)
    X = dense(data.X)
    above = np.fmax.reduceat(X, starts, axis=0) > np.fmin.reduceat(X, starts, axis=0)
    differs = np.asarray(above.any(axis=0))
    differs[list(left_out)] = False
    return np.flatnonzero(differs)


def widened(data: RankingDataset, columns: np.ndarray, n_jobs: int | None = None) -> RankingDataset:
    r"""The dataset with further features: :math:`(x - \bar x) / s` within each list for these columns.

    >>> data = RankingDataset.from_arrays([[1.0, 5.0], [3.0, 5.0]], [0, 1], qid=[1, 1], feature_names=["a", "b"])
    >>> wide = widened(data, np.array([0]))
    >>> wide.feature_names, [round(value, 3) for value in wide.X[:, 2].tolist()]
    (('a', 'b', 'a in list'), [-0.707, 0.707])
    """
    names = data.feature_names
    wide_names = None if names is None else tuple(with_relative_names(names, columns.tolist()))
    return data.replace(X=_widen(data.X, data.offsets, columns, n_jobs), feature_names=wide_names)


def _widen(X: Any, offsets: np.ndarray, columns: np.ndarray, n_jobs: int | None) -> np.ndarray:
    X = np.asarray(dense(X), np.float32)
    return np.hstack([X, scale_queries(X[:, columns], offsets, "zscore", n_jobs)])


@dataclass(frozen=True)
class ListFeaturesScorer(WithMembers):
    """A blend whose members see the features and, for some columns, their standardised values within the list.

    Parameters
    ----------
    blend
        The blend.
    n_features
        Number of features of the documents.
    columns
        The features that are also given relative to their list.
    """

    kind: ClassVar[str] = "list_features"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    blend: BlendScorer = inner()
    n_features: int = number(least=1)
    columns: np.ndarray = array("columns", np.int64, least=0)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.n_features)

    @property
    def members(self) -> tuple[Member, ...]:  # type: ignore[override]
        """The members of the blend."""
        return self.blend.members

    def with_members(self, members: tuple[Member, ...]) -> ListFeaturesScorer:
        """The same with other objects for its members, which score alike."""
        return replace(self, blend=self.blend.with_members(members))

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        if data.n_features != self.n_features:
            raise DataError(f"a table of {data.n_features} features for a scorer of {self.n_features}")
        parts = [np.empty(0)]
        for lo, hi in query_blocks(data.offsets):
            part = data if hi - lo == data.n_queries else data.select(np.arange(lo, hi))
            wide = _widen(part.X, part.offsets, self.columns, n_jobs)
            parts.append(self.blend.predict(wide, part.offsets, n_jobs, part.query_features, part.relations))
        return np.concatenate(parts)

    @property
    def not_exportable(self) -> str:
        """Why engines cannot have it."""
        return (
            "was trained with features relative to their list, and engines score one document at a time; train it "
            f"without ({parameter('list_features', 'False')}), or serve it: plackett serve scores whole lists"
        )

    def check(self) -> None:
        """Columns ascend, and the members see them all."""
        self.check_that(type(self.blend) is BlendScorer, "it holds no blend")
        ascend = (self.columns[1:] > self.columns[:-1]).all() and self.columns.max(initial=-1) < self.n_features
        self.check_that(ascend, "its columns relative to the list are not ascending numbers")
        wide = self.n_features + self.columns.size
        self.check_that(self.members[0].n_features_in_ == wide, f"its members do not have {wide} features")
