"""A blend of rankers that also sees how each feature compares with the other documents of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.mapped import query_blocks
from plackett.data.scaling import scale_queries, with_relative_names
from plackett.scorers._members import Member, unlabelled
from plackett.scorers.base import Size
from plackett.scorers.blend import BlendScorer

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
class ListFeaturesScorer:
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
    list_aware: ClassVar[bool] = True
    #: Whether `predict` takes the features of the queries, and the relations of the documents: members may need them.
    reads_queries: ClassVar[bool] = True
    reads_relations: ClassVar[bool] = True
    blend: BlendScorer
    n_features: int
    columns: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.n_features)

    @property
    def rankers(self) -> tuple[Member, ...]:
        """The members of the blend."""
        return self.blend.rankers

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row."""
        if X.shape[1] != self.n_features:
            raise DataError(f"a table of {X.shape[1]} features for a scorer of {self.n_features}")
        data = unlabelled(X, offsets, query_features, relations)
        parts = [np.empty(0)]
        for lo, hi in query_blocks(offsets):
            part = data if hi - lo == data.n_queries else data.select(np.arange(lo, hi))
            wide = _widen(part.X, part.offsets, self.columns, n_jobs)
            parts.append(self.blend.predict(wide, part.offsets, n_jobs, part.query_features, part.relations))
        return np.concatenate(parts)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        own = {"n_features": np.array([self.n_features]), "columns": self.columns}
        return own | {f"blend/{name}": array for name, array in self.blend.to_arrays().items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ListFeaturesScorer:
        """The scorer that `to_arrays` wrote."""
        size, columns = np.array(arrays["n_features"]), np.array(arrays["columns"])
        whole = size.shape == (1,) and size.dtype == np.int64 and columns.ndim == 1 and columns.dtype == np.int64
        bounds = np.concatenate(([-1], columns, size))
        if not whole or (bounds[1:] <= bounds[:-1]).any():  # a difference might overflow
            raise DataError("the model is damaged (its columns relative to the list are not ascending numbers)")
        n_features = int(size[0])
        prefix = "blend/"
        inner = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        blend = BlendScorer.from_arrays(inner)
        wide = n_features + columns.size
        if blend.rankers[0].n_features_in_ != wide:
            raise DataError(f"the model is damaged (its members do not have {wide} features)")
        return cls(blend, n_features, columns)
