"""All pairs of a dataset without listing them: each better document with a range of worse ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array
from plackett.data.parts import parts, per_row, values_at
from plackett.losses.pairwise.base import label_order


class Entries(NamedTuple):
    """Entry i has the pairs of row ``first[i]`` before each of the rows ``order[low[i]:high[i]]``.

    The weight of a pair is ``weight[i]`` times the ``row_weight`` of its worse row, without the weight of the query.
    ``margin`` is set for preferences that have one.
    """

    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    order: np.ndarray
    weight: np.ndarray
    row_weight: np.ndarray
    query: np.ndarray
    margin: np.ndarray | None

    def sums(self, start: float = 0.0) -> np.ndarray:
        """Running sums of the weights of the rows in ``order``, from 0 (or another number) on."""
        return np.cumsum(np.concatenate(([start], self.row_weight[self.order])))


def pair_entries(data: RankingDataset) -> Entries:
    """The preferences of a dataset if it has any, otherwise the pairs of unequal labels of each query.

    >>> data = RankingDataset.from_arrays(None, [0, 2, -1, 1], qid=[1, 1, 1, 1])
    >>> entries = pair_entries(data)
    >>> entries.first.tolist(), [entries.order[a:b].tolist() for a, b in zip(entries.low, entries.high)]
    ([1, 3], [[3, 0], [0]])
    """
    row_weight = per_row(data, lambda part: 1.0 if part.sample_weight is None else part.sample_weight)
    pairs = data.preferences
    if pairs is not None:
        weight = row_weight[pairs.winner] * (1.0 if pairs.weight is None else pairs.weight)
        number, query = np.arange(len(pairs)), data.query_of_row[pairs.winner]
        order = np.array(pairs.loser)
        return Entries(np.array(pairs.winner), number, number + 1, order, weight, row_weight, query, pairs.margin)
    if data.y is None:
        raise DataError("pairs need labels or preferences, but the dataset has neither")
    first, low, high, order, query = (row_array(data.X, (data.n_rows,), np.int64) for _ in range(5))
    n = 0
    for lo, hi, part in parts(data):
        start = data.offsets[lo]
        rows, below, judged = label_order(part)
        order[start : data.offsets[hi]] = rows + start
        begin = data.offsets[lo:hi][part.query_of_row]
        first_below, end = begin + below, begin + judged[part.query_of_row]
        some = first_below < end  # unjudged documents come last
        new = slice(n, n + int(np.count_nonzero(some)))
        first[new], low[new], high[new] = rows[some] + start, first_below[some], end[some]
        query[new] = part.query_of_row[some] + lo
        n = new.stop
    weight = values_at(row_weight, first[:n], data.X)
    return Entries(first[:n], low[:n], high[:n], order, weight, row_weight, query[:n], None)
