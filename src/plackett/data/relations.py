"""Relations between the documents of a query: similarity, parent, link, membership of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.data.resolve import document_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from plackett.data.dataset import RankingDataset

__all__ = ["Relation"]


@dataclass(frozen=True, eq=False)
class Relation:
    r"""Weighted, directed pairs of documents of the same query: a sparse matrix with one block per query. Immutable.

    Entry :math:`(i, j)` with weight :math:`w_{ij}` says that document :math:`i` is related to document :math:`j`: it is
    similar to it, links to it, or has it as its parent. A pair that is given twice has the sum of the weights. A
    symmetric relation has both directions (`symmetric`).

    In a `RankingDataset` (``data.relations["similarity"]``) the documents are grouped row numbers, and the pairs are
    sorted by row, then by the other row. `from_pairs` and `from_matrix` make a relation over the rows of an input; it
    becomes grouped when a dataset is made from that input.

    Parameters
    ----------
    row, other
        The two documents of each pair, int64.
    weight
        Weight of each pair, float64, finite; None for 1.

    Examples
    --------
    >>> from plackett import RankingDataset
    >>> links = Relation.from_pairs([(0, 2), (2, 3)], weight=[1.0, 0.5])
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 2], qid=["a", "b", "a", "a"], relations={"link": links})
    >>> data.relations["link"].to_pairs().tolist()
    [[0, 1], [1, 2]]
    >>> data.relations["link"].matrix(data.n_rows).toarray()[0].tolist()
    [0.0, 1.0, 0.0, 0.0]
    """

    row: np.ndarray
    other: np.ndarray
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("row", np.int64), ("other", np.int64), ("weight", np.float64)):
            value = getattr(self, name)
            if value is None and name == "weight":
                continue
            array = np.asarray(value)
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iubf"):
                raise DataError(f"{name} must be a column of numbers, got {array.dtype} of shape {array.shape}")
            column = array.astype(dtype, copy=False).view()
            if column.size != np.size(self.row):
                raise DataError(f"{name} has {column.size} entries for {np.size(self.row)} pairs")
            if dtype is np.int64 and not (column == array).all():
                raise DataError(f"{name} must hold row numbers, found {array[column != array][0]}")
            if dtype is np.float64 and not np.isfinite(column).all():
                raise DataError(f"weight[{np.flatnonzero(~np.isfinite(column))[0]}] is not finite")
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_pairs(cls, pairs: Any, *, weight: Any = None) -> Relation:
        """Make a relation from pairs of row numbers of a dataset's input."""
        table = np.asarray(pairs)
        if table.size == 0:
            table = np.empty((0, 2), np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise DataError(f"pairs must be a table of two columns (row, other row), got shape {table.shape}")
        return cls(table[:, 0], table[:, 1], weight)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Relation:
        """Make a relation from a square matrix, SciPy sparse or dense, whose zeros are not pairs.

        >>> Relation.from_matrix([[0.0, 0.5], [0.5, 0.0]])
        Relation(2 pairs, weighted)
        """
        from scipy.sparse import coo_matrix

        pairs = coo_matrix(matrix)
        if pairs.shape[0] != pairs.shape[1]:
            raise DataError(f"a relation must be a square matrix (documents × documents), got shape {pairs.shape}")
        kept = pairs.data != 0
        return cls(pairs.row[kept], pairs.col[kept], pairs.data[kept].astype(np.float64))

    @classmethod
    def from_ids(cls, data: RankingDataset, qid: Any, document: Any, other: Any, *, weight: Any = None) -> Relation:
        """Make a relation between documents named by their ids, for a dataset that has document ids.

        The result fits ``data``: ``data.replace(relations={"parent": …})``.

        >>> from plackett import RankingDataset
        >>> data = RankingDataset.from_arrays(None, None, qid=[7, 7, 7], docids=["x", "y", "z"])
        >>> Relation.from_ids(data, [7, 7], ["z", "x"], ["x", "y"]).to_pairs().tolist()
        [[0, 1], [2, 0]]
        """
        pairs = np.stack([document_rows(data, qid, document), document_rows(data, qid, other)], axis=1)
        return cls.from_pairs(pairs, weight=weight).regrouped(None, data.offsets)

    # ------------------------------------------------------------------------------------------------------- parts

    def __len__(self) -> int:
        return self.row.size

    def __repr__(self) -> str:
        return f"Relation({len(self)} pair{'' if len(self) == 1 else 's'}{', weighted' * (self.weight is not None)})"

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights, 1 where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def to_pairs(self) -> np.ndarray:
        """Table of two columns: row, and the row it is related to."""
        return np.stack([self.row, self.other], axis=1)

    def pointers(self, n_rows: int) -> np.ndarray:
        """First pair of each row, length ``n_rows + 1``; the pairs must be sorted, as in a dataset."""
        return np.searchsorted(self.row, np.arange(n_rows + 1))

    def matrix(self, n_rows: int) -> csr_matrix:
        """The relation as a SciPy matrix."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.weights, self.other, self.pointers(n_rows)), shape=(n_rows, n_rows))

    def symmetric(self) -> Relation:
        """Both directions of every pair; where both are given, with the larger weight.

        >>> Relation.from_pairs([(0, 1), (1, 0), (1, 2)], weight=[1.0, 3.0, 2.0]).symmetric().weights.tolist()
        [3.0, 3.0, 2.0, 2.0]
        """
        row, other = np.concatenate([self.row, self.other]), np.concatenate([self.other, self.row])
        weight = np.tile(self.weights, 2)
        order = np.lexsort((-weight, other, row))
        row, other, weight = row[order], other[order], weight[order]
        first = np.ones(row.size, bool)
        first[1:] = (row[1:] != row[:-1]) | (other[1:] != other[:-1])
        return Relation(row[first], other[first], None if self.weight is None else weight[first])

    def moved(self, rows: np.ndarray) -> Relation:
        """The relation over rows in another order: ``rows[i]`` is the old number of the new row i."""
        new = np.empty(rows.size, np.int64)
        new[rows] = np.arange(rows.size)
        return replace(self, row=new[self.row], other=new[self.other])._sorted()

    def regrouped(self, rows: np.ndarray | None, offsets: np.ndarray) -> Relation:
        """The same pairs over the grouped rows of a dataset, sorted, each pair once.

        Parameters
        ----------
        rows
            Input row of each grouped row, or None if the input was already grouped.
        offsets
            First grouped row of each query.
        """
        n_rows = int(offsets[-1])
        for name in ("row", "other"):
            bad = np.flatnonzero((getattr(self, name) < 0) | (getattr(self, name) >= n_rows))
            if bad.size:
                raise DataError(
                    f"pair {bad[0]} ({self.row[bad[0]]}, {self.other[bad[0]]}): there is no row "
                    f"{getattr(self, name)[bad[0]]}, the rows are 0..{n_rows - 1}"
                )
        pairs = self._sorted() if rows is None else self.moved(rows)
        query_of_row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        crossing = np.flatnonzero(query_of_row[pairs.row] != query_of_row[pairs.other])
        if crossing.size:
            pair = pairs.row[crossing[0]], pairs.other[crossing[0]]
            given = pair if rows is None else (rows[pair[0]], rows[pair[1]])
            raise DataError(
                f"rows {given[0]} and {given[1]} are of different queries (numbers {query_of_row[pair[0]]} and "
                f"{query_of_row[pair[1]]}, counted from 0 in order of appearance); relations stay within a query"
            )
        return pairs

    def select(self, index: np.ndarray, old_offsets: np.ndarray, new_offsets: np.ndarray) -> Relation:
        """The pairs of the queries ``index``, with the row numbers of a dataset of just these queries."""
        first = np.searchsorted(self.row, old_offsets)
        counts = np.diff(first)[index]
        begin = np.cumsum(counts) - counts
        pairs = np.arange(counts.sum()) + np.repeat(first[index] - begin, counts)
        shift = np.repeat(new_offsets[:-1] - old_offsets[index], counts)
        return Relation(
            self.row[pairs] + shift, self.other[pairs] + shift, None if self.weight is None else self.weight[pairs]
        )

    def among(self, rows: np.ndarray, n_rows: int) -> Relation:
        """The pairs with both documents among some of ``n_rows`` rows, numbered by their positions in ``rows``.

        >>> Relation.from_pairs([(0, 2), (1, 2), (2, 3)]).among(np.array([1, 2]), 4).to_pairs().tolist()
        [[0, 1]]
        """
        new_row = np.full(n_rows, -1)
        new_row[rows] = np.arange(rows.size)
        kept = np.flatnonzero((new_row[self.row] >= 0) & (new_row[self.other] >= 0))
        weight = None if self.weight is None else self.weight[kept]
        return Relation(new_row[self.row[kept]], new_row[self.other[kept]], weight)._sorted()

    def _sorted(self) -> Relation:
        """The pairs sorted by row and other row, duplicates added up."""
        step = np.diff(self.row), np.diff(self.other)
        if ((step[0] > 0) | ((step[0] == 0) & (step[1] > 0))).all():
            return self
        order = np.lexsort((self.other, self.row))
        row, other, weight = self.row[order], self.other[order], self.weights[order]
        first = np.flatnonzero(np.concatenate(([True], (np.diff(row) != 0) | (np.diff(other) != 0))))
        if first.size == row.size:
            return Relation(row, other, None if self.weight is None else weight)
        return Relation(row[first], other[first], np.add.reduceat(weight, first))


def relation_map(given: Any, rows: np.ndarray | None, offsets: np.ndarray) -> Mapping[str, Relation] | None:
    """The relations of a dataset by name, checked and over its grouped rows.

    Parameters
    ----------
    given
        For each name a `Relation`, or a square matrix over the rows of the input; or None.
    rows, offsets
        As in `Relation.regrouped`.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise DataError(f"relations must be a mapping from names to relations, got {type(given).__name__}")
    relations: dict[str, Relation] = {}
    for name, relation in given.items():
        if not isinstance(name, str) or not name:
            raise DataError(f"the name of a relation must be a string, got {name!r}")
        try:
            converted = relation if isinstance(relation, Relation) else _from_matrix(relation, int(offsets[-1]))
            relations[name] = converted.regrouped(rows, offsets)
        except DataError as error:
            raise DataError(f"relation {name!r}: {error}") from None
    return MappingProxyType(relations) if relations else None


def _from_matrix(matrix: Any, n_rows: int) -> Relation:
    if np.shape(matrix) != (n_rows, n_rows):
        raise DataError(f"the matrix has shape {np.shape(matrix)}, but there are {n_rows} documents")
    return Relation.from_matrix(matrix)
