"""Splits that keep queries whole: LETOR's five folds, stratified parts, and parts by time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError, parameter
from plackett._names.nearest import plural
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array
from plackett.data.ids import order_of
from plackett.data.mapped import query_blocks
from plackett.data.required import check_dataset
from plackett.data.times import duration, times

__all__ = ["Fold", "letor_folds", "split_by_time", "split_queries"]


@dataclass(frozen=True, eq=False)
class Fold:
    """Training, validation and test part of one split: datasets, or arrays of row numbers.

    >>> train, valid, test = Fold("a", "b", "c")
    >>> valid
    'b'
    """

    train: Any
    valid: Any
    test: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.train, self.valid, self.test))


def letor_folds(data: RankingDataset | Sequence[RankingDataset] | Any, n_parts: int = 5) -> list[Fold]:
    r"""LETOR's rotation: fold :math:`k` trains on three parts, validates on the fourth and tests on the fifth.

    With parts :math:`S_1 \dots S_5`, fold :math:`k` has :math:`S_k, S_{k+1}, S_{k+2}` for training, :math:`S_{k+3}`
    for validation and :math:`S_{k+4}` for the test, indices modulo 5. Every part is tested once, validated once and
    trained on three times. Published results are the plain mean over the five test parts, even if the parts
    differ in size.

    Parameters
    ----------
    data
        The parts in order, as datasets; or one dataset, whose queries are cut in order of appearance into
        ``n_parts`` parts of equal size (the first ones take the remainder: 106 queries make 22, 21, 21, 21,
        21); or the query id of each row, for folds of row numbers. The releases do not follow a single rule (OHSUMED is
        split into 21, 21, 21, 21, 22): give their parts, or use `plackett.datasets.load`, to get the official folds.
    n_parts
        Number of parts, at least 3; all but two are for training.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> fold = letor_folds(["a", "b", "b", "c", "d", "e"])[0]
    >>> fold.train.tolist(), fold.valid.tolist(), fold.test.tolist()
    ([0, 1, 2, 3], [4], [5])
    """
    if isinstance(data, Sequence) and data and all(isinstance(part, RankingDataset) for part in data):
        n_parts = len(data)
        sizes = [part.n_queries for part in data]
        data = concat(data)
    else:
        queries = _Queries(data)
        n, rest = divmod(queries.n, max(n_parts, 1))
        sizes = [n + (part < rest) for part in range(n_parts)]
    if n_parts < 3:
        raise DataError(f"folds need at least 3 parts (train, validation, test), got {n_parts}")
    if min(sizes) == 0:
        count = "1 query is" if sum(sizes) == 1 else f"{sum(sizes)} queries are"
        raise DataError(f"{count} too few for {n_parts} parts of whole queries")
    queries = _Queries(data)
    edges = np.cumsum([0, *sizes])
    part = [np.arange(a, b) for a, b in itertools.pairwise(edges)]

    def rotated(fold: int, first: int, last: int) -> Any:
        return queries.take(np.concatenate([part[(fold + i) % n_parts] for i in range(first, last)]))

    return [
        Fold(
            rotated(k, 0, n_parts - 2),
            rotated(k, n_parts - 2, n_parts - 1),
            rotated(k, n_parts - 1, n_parts),
        )
        for k in range(n_parts)
    ]


def split_queries(
    data: RankingDataset | Any,
    sizes: Sequence[float] = (0.6, 0.2, 0.2),
    *,
    y: Any = None,
    stratify: bool = True,
    random_state: Any = None,
) -> tuple[Any, ...]:
    """Split whole queries at random into parts with similar list lengths and labels.

    Parameters
    ----------
    data
        A dataset (returns datasets), or the query id of each row (returns arrays of row numbers).
    sizes
        Share of the queries of each part, adding up to 1; the numbers are rounded so that every query is in a part.
    y
        Labels, if ``data`` is query ids, for the stratification.
    stratify
        Queries are sorted by mean gain ``2**y - 1`` (in ten classes) and, within a class, by length, and neighbours
        are distributed to the parts in proportion to the sizes. Without it, the parts are drawn at random.
    random_state
        Seed. The parts do not depend on the order of the queries in the data.

    Examples
    --------
    >>> train, test = split_queries(["a", "a", "b", "c", "d"], (0.75, 0.25), random_state=0)
    >>> len(set(train) | set(test)), len(set(train) & set(test))
    (5, 0)
    """
    queries = _Queries(data)
    edges = _edges(sizes, queries.n)
    counts = np.diff(edges)
    if (counts == 0).any():
        raise DataError(f"{plural(queries.n, 'query is', 'queries are')} too few for parts of the sizes {tuple(sizes)}")
    rng = np.random.default_rng(random_state)
    order = rng.permutation(order_of(queries.ids))
    if stratify:
        order = order[np.lexsort(queries.strata(y)[:, order])]
    # Part p takes the positions (j + u) / counts[p], j = 0, 1, …: evenly spread along the order, at random in detail.
    # Turning the sequence by a random number makes every query equally likely in every part.
    position = np.concatenate([(np.arange(c) + rng.random(c)) / c for c in counts])
    part = np.repeat(np.arange(counts.size), counts)[np.argsort(position)]
    part = np.roll(part, rng.integers(queries.n))
    return tuple(queries.take(np.sort(order[part == p])) for p in range(counts.size))


def split_by_time(
    data: RankingDataset | Any,
    sizes: Sequence[float] = (0.6, 0.2, 0.2),
    *,
    cutoffs: Any = None,
    time: Any = None,
    embargo: Any = 0.0,
) -> tuple[Any, ...]:
    """Split whole queries by time: the earliest into the first part, the latest into the last one.

    Train on the past and test on the future, as a ranker is used. Queries of the same time are in the same part.

    Parameters
    ----------
    data
        A dataset (returns datasets), or the query id of each row (returns arrays of row numbers).
    sizes
        Share of the queries of each part, adding up to 1; approximate if many queries have the same time.
    cutoffs
        Instead of ``sizes``: ascending times at which the second part begins, the third, …; dates, text such as
        ``"2024-05-31"``, or numbers.
    time
        When each query was asked: dates or numbers, one for each query, or one for each row; then the earliest of
        its rows is the time of a query. By default ``data.query_time``.
    embargo
        Leave out queries that are less than this before the beginning of a later part: their labels may have been
        collected when it had begun. A ``timedelta``, or a number in the unit of the times (seconds for dates).

    Examples
    --------
    >>> train, test = split_by_time(["a", "a", "b", "c"], cutoffs=["2024-05-31"],
    ...                             time=["2024-05-30", "2024-06-02", "2024-06-01", "2024-05-01"])
    >>> train.tolist(), test.tolist()
    ([0, 1, 3], [2])
    """
    queries = _Queries(data)
    if queries.n == 0:
        raise DataError("there are no queries to split")
    when, gap = queries.times(time), duration(embargo, "embargo")
    if cutoffs is None:
        edges = _edges(sizes, queries.n)[1:-1]
        cuts = np.sort(when)[np.minimum(edges, queries.n - 1)]
    else:
        one = isinstance(cutoffs, str) or not np.iterable(cutoffs)
        cuts = times([cutoffs] if one else cutoffs, "cutoffs")
    if cuts.size == 0 or (cutoffs is not None and not (cuts[1:] > cuts[:-1]).all()):
        raise DataError("cutoffs must ascend, and a split has two parts or more")
    part = np.searchsorted(cuts, when, side="right")
    until = np.append(cuts - gap, np.inf)[part]
    parts = [np.flatnonzero((part == p) & (when < until)) for p in range(cuts.size + 1)]
    for number, own in enumerate(parts, 1):
        if own.size == 0:
            raise DataError(
                f"part {number} of {len(parts)} has no queries: the times are from {when.min():.10g} to "
                f"{when.max():.10g}, later parts begin at {', '.join(f'{cut:.10g}' for cut in cuts)}, and the embargo "
                f"is {gap:.10g}"
            )
    return tuple(queries.take(own) for own in parts)


def _edges(sizes: Sequence[float], n: int) -> np.ndarray:
    """The number of the first of n queries of each part, and n."""
    shares = np.asarray(sizes, np.float64)
    if shares.ndim != 1 or not (shares > 0).all() or not np.isclose(shares.sum(), 1):
        raise DataError(f"sizes must be positive shares that add up to 1, such as (0.7, 0.3), got {sizes!r}")
    return np.rint(np.cumsum([0, *shares]) * n).astype(np.int64)


class _Queries:
    """The queries of a dataset or of a column of query ids, and the parts of either."""

    def __init__(self, data: Any) -> None:
        self.data = data if isinstance(data, RankingDataset) else None
        if self.data is not None:
            self.ids, self.offsets, self.rows = self.data.qids, self.data.offsets, None
        else:
            if hasattr(data, "columns"):
                check_dataset(data)
            ids = ids_array(data, "qid")
            self.offsets, self.ids, rows = group_rows(ids)
            self.rows = np.arange(ids.size) if rows is None else rows
        self.n = self.ids.size

    def take(self, queries: np.ndarray) -> Any:
        """Dataset of some queries, or their row numbers in the order of the input."""
        if self.data is not None:
            return self.data.select(queries)
        chosen = np.zeros(self.n, bool)
        chosen[queries] = True
        assert self.rows is not None
        return np.sort(self.rows[np.repeat(chosen, np.diff(self.offsets))])

    def times(self, given: Any) -> np.ndarray:
        """When each query was asked."""
        if given is None:
            if self.data is None or self.data.query_time is None:
                raise DataError(
                    f"the data have no times: give {parameter('time')}"
                    + ("" if self.data is None else ", or name the column of the table when it is read")
                )
            return self.data.query_time
        when = times(given, "time")
        if when.size == self.n and self.rows is None:
            return when
        if when.size != self.offsets[-1]:
            raise DataError(f"time has {when.size} entries for {self.n} queries and {self.offsets[-1]} rows")
        when = when[self.rows] if self.rows is not None else when
        return np.minimum.reduceat(when, self.offsets[:-1]) if when.size else when

    def strata(self, y: Any) -> np.ndarray:
        """Keys to sort the queries by, the last one first: length within class of mean gain."""
        length = np.diff(self.offsets)
        if self.data is not None:
            y = self.data.y if y is None else y
        elif y is not None:
            y = np.asarray(y)[self.rows]
        if y is None:
            return np.stack([length, np.zeros(self.n)])
        if len(y) != self.offsets[-1]:
            raise DataError(f"y has {len(y)} entries for {self.offsets[-1]} rows")
        total = np.zeros(self.offsets.size)
        for lo, hi in query_blocks(self.offsets):  # running sums, without one for every row of a large dataset
            start, stop = self.offsets[lo], self.offsets[hi]
            gain = np.exp2(np.clip(y[start:stop], 0, 30)) - 1
            total[lo : hi + 1] = np.cumsum(np.append(total[lo], gain))[self.offsets[lo : hi + 1] - start]
        mean = np.diff(total) / np.maximum(length, 1)
        rank = np.searchsorted(np.sort(mean), mean)  # equal means share a class
        label_class = rank * 10 // max(self.n, 1)
        # lengths up and down in turn, so that the end of one class is like the beginning of the next
        return np.stack([np.where(label_class % 2 == 0, length, -length), label_class])
