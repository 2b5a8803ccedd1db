"""Explicit preferences: pairs "this document before that one" of the same query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.resolve import document_rows

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset

__all__ = ["Preferences"]


@dataclass(frozen=True, eq=False)
class Preferences:
    r"""Ordered pairs of documents, "winner before loser". Immutable.

    A query has a set :math:`S` of ordered pairs :math:`(u, v)`, each saying that document :math:`u` should come before
    document :math:`v`. The pairs may contradict each other: cycles, pairs in both directions and repeated pairs are
    allowed. Pairs never cross queries, and no document is preferred to itself.

    Inside a `RankingDataset` (``data.preferences``) the documents are grouped row numbers of the dataset and the
    pairs are sorted by query. `from_pairs` makes preferences over the rows of an input; they become grouped when a
    dataset is made from that input.

    Parameters
    ----------
    winner, loser
        Row of the preferred and of the other document of each pair, int64.
    margin
        By how much the winner's score should exceed the loser's, float64, 0 or more; None if unknown.
    weight
        Weight of each pair, float64, 0 or more; None for 1.

    Examples
    --------
    >>> from plackett import RankingDataset
    >>> pairs = Preferences.from_pairs([(0, 2), (2, 3)], margin=[1.0, 0.5])
    >>> data = RankingDataset.from_arrays(None, None, qid=["a", "b", "a", "a"], preferences=pairs)
    >>> data.preferences.to_pairs().tolist()
    [[0, 1], [1, 2]]

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. 2008.
    """

    winner: np.ndarray
    loser: np.ndarray
    margin: np.ndarray | None = None
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("winner", np.int64), ("loser", np.int64), ("margin", np.float64), ("weight", np.float64)):
            value = getattr(self, name)
            if value is None and name in ("margin", "weight"):
                continue
            array = _column(value, name, dtype).view()
            if array.size != np.size(self.winner):
                raise DataError(f"{name} has {array.size} entries for {np.size(self.winner)} pairs")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        same = np.flatnonzero(self.winner == self.loser)
        if same.size:
            raise DataError(f"pair {same[0]} prefers row {self.winner[same[0]]} to itself; drop it")

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_pairs(cls, pairs: Any, *, margin: Any = None, weight: Any = None) -> Preferences:
        """Make preferences from pairs (winner row, loser row), numbered by the rows of a dataset's input.

        >>> len(Preferences.from_pairs([(0, 1), (1, 2), (2, 0)]))
        3
        """
        table = np.asarray(pairs)
        if table.size == 0:
            table = np.empty((0, 2), np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise DataError(f"pairs must be a table of two columns (winner row, loser row), got shape {table.shape}")
        return cls(table[:, 0], table[:, 1], margin, weight)

    @classmethod
    def from_ids(
        cls, data: RankingDataset, qid: Any, winner: Any, loser: Any, *, margin: Any = None, weight: Any = None
    ) -> Preferences:
        """Preferences between documents named by their ids, for a dataset that has document ids.

        Parameters
        ----------
        data
            Dataset with ``docids``; the result fits it: ``data.replace(preferences=...)``.
        qid, winner, loser
            Query id and the two document ids of each pair.
        margin, weight
            One entry per pair, or None.

        Examples
        --------
        >>> from plackett import RankingDataset
        >>> data = RankingDataset.from_arrays(None, None, qid=[7, 7, 7], docids=["x", "y", "z"])
        >>> Preferences.from_ids(data, [7, 7], ["z", "x"], ["x", "y"]).to_pairs().tolist()
        [[2, 0], [0, 1]]
        """
        pairs = np.stack([document_rows(data, qid, winner), document_rows(data, qid, loser)], axis=1)
        return cls.from_pairs(pairs, margin=margin, weight=weight).regrouped(None, data.offsets)

    @classmethod
    def from_labels(cls, data: RankingDataset, *, margin: bool = True) -> Preferences:
        r"""All pairs of unequal labels of each query; the margin is the difference of the labels.

        Equal labels and unjudged documents (label below 0) form no pairs. A query with :math:`m_k`
        documents of level :math:`k` has :math:`\sum_{a<b} m_a m_b` pairs: long lists need much memory. Pairs are
        ordered by the row of the winner, then of the loser.

        >>> from plackett import RankingDataset
        >>> data = RankingDataset.from_arrays(None, [0, 2, -1, 0], qid=[1, 1, 1, 1])
        >>> pairs = Preferences.from_labels(data)
        >>> pairs.to_pairs().tolist(), pairs.margin.tolist()
        ([[1, 0], [1, 3]], [2.0, 2.0])
        """
        pairs = _pairs_above(np.where(data.labels >= 0, data.labels, np.nan), data.offsets)
        if not margin:
            return pairs
        return cls(pairs.winner, pairs.loser, data.labels[pairs.winner] - data.labels[pairs.loser])

    @classmethod
    def from_order(cls, data: RankingDataset, ranks: Any, *, adjacent: bool = False) -> Preferences:
        """Pairs of a total order given by the rank of each document (1 is best; NaN means not in the order).

        Parameters
        ----------
        ranks
            Rank of each row of ``data``; smaller is better, equal ranks form no pair.
        adjacent
            Only the pairs of neighbouring ranks, ``m - 1`` a query instead of ``m (m - 1) / 2``; the other pairs
            follow from them. Ranks must then be distinct.

        Examples
        --------
        >>> from plackett import RankingDataset
        >>> data = RankingDataset.from_arrays(None, None, qid=[1, 1, 1])
        >>> Preferences.from_order(data, [2, 3, 1], adjacent=True).to_pairs().tolist()
        [[2, 0], [0, 1]]
        """
        values = _column(ranks, "ranks", np.float64, finite=False)
        if values.size != data.n_rows:
            raise DataError(f"ranks has {values.size} entries, the dataset {data.n_rows} rows")
        if not adjacent:
            return _pairs_above(-values, data.offsets)
        order = np.lexsort((values, data.query_of_row))
        order = order[~np.isnan(values[order])]
        first, second = order[:-1], order[1:]
        same_query = data.query_of_row[first] == data.query_of_row[second]
        tied = np.flatnonzero(same_query & (values[first] == values[second]))
        if tied.size:
            qid = data.qids[data.query_of_row[first[tied[0]]]]
            raise DataError(
                f"query {qid}: two documents have rank {values[first[tied[0]]]:g}; adjacent=True needs a total order"
            )
        return cls(first[same_query], second[same_query])

    # ------------------------------------------------------------------------------------------------------- parts

    def __len__(self) -> int:
        return self.winner.size

    def __repr__(self) -> str:
        extras = "".join(f", {name}" for name in ("margin", "weight") if getattr(self, name) is not None)
        return f"Preferences({len(self)} pairs{extras})"

    def to_pairs(self) -> np.ndarray:
        """Table of two columns: row of the winner, row of the loser."""
        return np.stack([self.winner, self.loser], axis=1)

    def take(self, index: np.ndarray, shift: np.ndarray | int = 0) -> Preferences:
        """Some of the pairs, in the order given, with their rows moved by ``shift``."""
        margin = None if self.margin is None else self.margin[index]
        weight = None if self.weight is None else self.weight[index]
        return Preferences(self.winner[index] + shift, self.loser[index] + shift, margin, weight)

    def offsets(self, query_offsets: np.ndarray) -> np.ndarray:
        """First pair of each query, length ``n_queries + 1``, for the ``offsets`` of the dataset.

        >>> Preferences.from_pairs([(0, 1), (4, 3)]).offsets(np.array([0, 2, 3, 5])).tolist()
        [0, 1, 1, 2]
        """
        # the rows within a query are in any order, but "at or after the first row of query q" is false, then true
        first = np.searchsorted(self.winner, query_offsets)
        some = np.flatnonzero(np.diff(first))
        lowest, highest = (f.reduceat(self.winner, first[some]) if some.size else 0 for f in (np.minimum, np.maximum))
        inside = (lowest >= query_offsets[some]) & (highest < query_offsets[some + 1])
        if first[0] != 0 or first[-1] != len(self) or not np.all(inside):
            raise DataError("the pairs are not sorted by query; make a dataset from them first")
        return first

    def regrouped(self, rows: np.ndarray | None, offsets: np.ndarray) -> Preferences:
        """The same pairs over the grouped rows of a dataset, sorted by query.

        Parameters
        ----------
        rows
            Input row of each grouped row, or None if the input was already grouped.
        offsets
            First grouped row of each query.
        """
        n_rows = int(offsets[-1])
        for name in ("winner", "loser"):
            bad = np.flatnonzero((getattr(self, name) < 0) | (getattr(self, name) >= n_rows))
            if bad.size:
                raise DataError(
                    f"pair {bad[0]} ({self.winner[bad[0]]} before {self.loser[bad[0]]}): there is no row "
                    f"{getattr(self, name)[bad[0]]}, the rows are 0..{n_rows - 1}"
                )
        winner, loser = self.winner, self.loser
        if rows is not None:
            grouped = np.empty(n_rows, np.int64)
            grouped[rows] = np.arange(n_rows)
            winner, loser = grouped[winner], grouped[loser]
        query_of_row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        query, other = query_of_row[winner], query_of_row[loser]
        bad = np.flatnonzero(query != other)
        if bad.size:
            i = bad[0]
            raise DataError(
                f"pair {i} (row {self.winner[i]} before row {self.loser[i]}) crosses queries: the rows are of the "
                f"queries number {query[i]} and {other[i]} (counted from 0 in order of appearance)"
            )
        pairs = Preferences(winner, loser, self.margin, self.weight)
        if (query[1:] >= query[:-1]).all():
            return pairs
        return pairs.take(np.argsort(query, kind="stable"))

    def select(self, index: np.ndarray, old_offsets: np.ndarray, new_offsets: np.ndarray) -> Preferences:
        """Pairs of the queries ``index``, with the row numbers of a dataset of just these queries.

        >>> pairs = Preferences.from_pairs([(0, 1), (4, 3)])
        >>> pairs.select(np.array([2, 0]), np.array([0, 2, 3, 5]), np.array([0, 2, 4])).to_pairs().tolist()
        [[1, 0], [2, 3]]
        """
        first = self.offsets(old_offsets)
        counts = np.diff(first)[index]
        begin = np.cumsum(counts) - counts
        pairs = np.arange(counts.sum()) + np.repeat(first[index] - begin, counts)
        return self.take(pairs, np.repeat(new_offsets[:-1] - old_offsets[index], counts))


def _column(values: Any, name: str, dtype: Any, finite: bool = True) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iubf"):
        raise DataError(f"{name} must be a column of numbers, got {array.dtype} of shape {array.shape}")
    column = array.astype(dtype, copy=False)
    if dtype is np.int64:
        if column.dtype != array.dtype and not (column == array).all():
            raise DataError(f"{name} must hold row numbers, found {array[column != array][0]}")
    elif finite and column.size and not (column.min() >= 0 and column.max() < np.inf):
        bad = np.flatnonzero(~np.isfinite(column) | (column < 0))[0]
        raise DataError(f"{name}[{bad}] is {column[bad]}; it must be a number of 0 or more")
    return column


def _pairs_above(values: np.ndarray, offsets: np.ndarray) -> Preferences:
    """All pairs of a document and one of a smaller value, query by query; NaN is in no pair."""
    counts = np.zeros(offsets.size - 1, np.int64)
    over_queries(_count_pairs, offsets, values, counts)
    first = np.concatenate(([0], np.cumsum(counts)))
    winner, loser = np.empty(first[-1], np.int64), np.empty(first[-1], np.int64)
    over_queries(_fill_pairs, offsets, values, first, winner, loser)
    return Preferences(winner, loser)


@kernel
def _count_pairs(lo, hi, offsets, values, counts):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        n = 0
        for u in range(offsets[q], offsets[q + 1]):
            value = values[u]
            for v in range(offsets[q], offsets[q + 1]):
                n += 1 if value > values[v] else 0
        counts[q] = n


@kernel
def _fill_pairs(lo, hi, offsets, values, first, winner, loser):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        n, end = first[q], first[q + 1]
        for u in range(offsets[q], offsets[q + 1]):
            value = values[u]
            for v in range(offsets[q], offsets[q + 1]):
                if n < end:  # always write, keep only pairs: a branch here would be unpredictable
                    winner[n] = u
                    loser[n] = v
                    n += 1 if value > values[v] else 0
