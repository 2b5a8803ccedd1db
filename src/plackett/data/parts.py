"""Numbers for each document and each query, computed for one block of queries after another.

What is kept per document is on the disk if the features are (`row_array`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import copy_rows, query_blocks, row_array


def parts(data: RankingDataset) -> Iterator[tuple[int, int, RankingDataset]]:
    """Blocks of queries: the number of the first, the one after the last, and their part of the dataset.

    >>> data = RankingDataset.from_arrays(None, [1, 0, 2], qid=[1, 1, 2])
    >>> [(lo, hi, part.n_rows) for lo, hi, part in parts(data)]
    [(0, 2, 3)]
    """
    for lo, hi in query_blocks(data.offsets):
        yield lo, hi, data if hi - lo == data.n_queries else data.select(np.arange(lo, hi))


def per_row(data: RankingDataset, values: Callable[[RankingDataset], Any], dtype: Any = np.float64) -> np.ndarray:
    """A number for each document; the function returns those of a part of the dataset.

    >>> data = RankingDataset.from_arrays(None, [1, 0, 2], qid=[1, 1, 2])
    >>> per_row(data, lambda part: part.labels > 0, bool).tolist()
    [True, False, True]
    """
    out = row_array(data.X, (data.n_rows,), dtype)
    for lo, hi, part in parts(data):
        out[data.offsets[lo] : data.offsets[hi]] = values(part)
    return out


def per_query(data: RankingDataset, values: Callable[[RankingDataset], Any], dtype: Any = np.float64) -> np.ndarray:
    """A number for each query; the function returns those of a part of the dataset.

    >>> data = RankingDataset.from_arrays(None, [1, 0, 2], qid=[1, 1, 2])
    >>> per_query(data, lambda part: np.bincount(part.query_of_row, part.labels)).tolist()
    [1.0, 2.0]
    """
    out = np.zeros(data.n_queries, dtype)
    for lo, hi, part in parts(data):
        out[lo:hi] = values(part)
    return out


def rows_where(data: RankingDataset, chosen: Callable[[RankingDataset], np.ndarray]) -> np.ndarray | None:
    """Numbers of the rows that a function of a part of the dataset chooses; None if it chooses all of them.

    >>> data = RankingDataset.from_arrays(None, [1, -1, 2], qid=[1, 1, 2])
    >>> rows_where(data, lambda part: part.labels >= 0).tolist()
    [0, 2]
    """
    marks = per_row(data, chosen, bool)
    rows = row_array(data.X, (int(np.count_nonzero(marks)),), np.int64)
    if rows.size == data.n_rows:
        return None
    n = 0
    for lo, hi in query_blocks(data.offsets):
        start, stop = data.offsets[lo], data.offsets[hi]
        own = start + np.flatnonzero(marks[start:stop])
        rows[n : n + own.size] = own
        n += own.size
    return rows


def labels_that_occur(data: RankingDataset, chosen: Callable[[RankingDataset], np.ndarray]) -> np.ndarray:
    """The different labels of the documents that a function of a part of the dataset chooses, in ascending order.

    >>> data = RankingDataset.from_arrays(None, [1, -1, 2, 1], qid=[1, 1, 2, 2])
    >>> labels_that_occur(data, lambda part: part.labels >= 0).tolist()
    [1.0, 2.0]
    """
    return np.unique(np.concatenate([np.unique(part.labels[chosen(part)]) for _, _, part in parts(data)]))


def counted(data: RankingDataset) -> np.ndarray:
    """Rows that count in training: judged, and of a weight above 0."""
    return (data.labels >= 0) & (data.row_weight > 0)


def all_rows(data: RankingDataset) -> np.ndarray:
    """The numbers of all rows.

    >>> all_rows(RankingDataset.from_arrays(None, [1, 0, 2])).tolist()
    [0, 1, 2]
    """
    rows = row_array(data.X, (data.n_rows,), np.int64)
    rows[1:] = 1
    return np.cumsum(rows, out=rows)


def values_at(values: np.ndarray, rows: np.ndarray | None, X: Any) -> np.ndarray:
    """``values[rows]``, on the disk if the features are; the values themselves if rows is None."""
    if rows is None:
        return values
    return copy_rows(values, rows, row_array(X, (rows.size, *values.shape[1:]), values.dtype))
