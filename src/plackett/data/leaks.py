"""Overlap between two parts of a split that should have nothing in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.ids import distinct, find
from plackett.data.profile import row_hashes

__all__ = ["leaks"]


@dataclass(frozen=True)
class Leaks:
    """Result of `leaks`.

    Attributes
    ----------
    queries
        Queries of the second part whose id also occurs in the first.
    lists
        Queries of the second part whose documents, all of them, have the same features as those of a query of the
        first.
    rows
        Documents of the second part whose features equal those of some document of the first. Documents with few
        distinct feature values may be alike by chance.
    """

    queries: int
    lists: int
    rows: int


def leaks(train: RankingDataset, test: RankingDataset) -> Leaks:
    """Find queries and documents of the second part that also occur in the first.

    >>> train = RankingDataset.from_arrays([[1, 2], [3, 4], [5, 6]], qid=[1, 1, 2])
    >>> test = RankingDataset.from_arrays([[3, 4], [1, 2], [5, 7]], qid=[8, 8, 2])
    >>> leaks(train, test)
    Leaks(queries=1, lists=1, rows=2)
    """
    if train.n_features != test.n_features or train.n_features == 0:  # no features to be the same
        return Leaks(_common(train.qids, test.qids), 0, 0)
    known, rows = row_hashes(train), row_hashes(test)
    return Leaks(
        queries=_common(train.qids, test.qids),
        lists=_common(list_hashes(train, known), list_hashes(test, rows)),
        rows=_common(known, rows),
    )


def _common(first: np.ndarray, second: np.ndarray) -> int:
    if "T" in (first.dtype.kind, second.dtype.kind):
        return int((find(distinct(first)[0], second) >= 0).sum())
    return int(np.isin(second, first).sum())


def list_hashes(data: RankingDataset, rows: np.ndarray) -> np.ndarray:
    """A number for each query that does not depend on the order of its documents; none for queries without any."""
    mixed = rows * (rows >> np.uint64(29) | np.uint64(1))  # so that the sum over a list says which rows are in it
    filled = data.group > 0
    sums = np.add.reduceat(mixed, data.offsets[:-1][filled]) if filled.any() else np.zeros(0, np.uint64)
    return sums + data.group[filled].astype(np.uint64)
