"""Summary of a dataset, for a first look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset

__all__ = ["profile"]

#: Cells looked at in one go.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Profile:
    """Result of `profile`.

    Attributes
    ----------
    n_queries, n_rows, n_features
        Sizes.
    sparse
        Whether the features are a sparse matrix.
    density
        Share of the cells that are not zero (missing ones count as not zero); NaN without cells.
    list_length
        Documents per query: ``min``, ``mean``, ``median``, ``max``.
    labels
        Label to number of documents, by label; None without labels.
    unjudged
        Documents with a label below 0.
    queries_without_relevant
        Queries that have no document with a label above 0: measures say nothing about them.
    queries_of_one_label
        Queries whose judged documents all have the same label: nothing can be learned from them.
    missing
        Number of missing values of each feature that has some, by feature name or number.
    constant
        Features that have one value (or none) on all rows, by name or number.
    duplicate_rows
        Rows whose features equal those of an earlier row of the same query.
    conflicting_rows
        Those of them whose label differs from that earlier row's.
    categories
        Number of different values of each feature that holds categories, by name.
    sample_weight, query_weight, query_time
        Smallest and largest weight or time, or None.
    n_preferences
        Number of explicit preferences, or None.
    has_docids, has_positions, has_comments
        What else the dataset has.
    n_subtopics
        Largest number of subtopics of a query, or None.
    """

    n_queries: int
    n_rows: int
    n_features: int
    sparse: bool
    density: float
    list_length: dict[str, float]
    labels: dict[float, int] | None
    unjudged: int
    queries_without_relevant: int
    queries_of_one_label: int
    missing: dict[str | int, int]
    constant: tuple[str | int, ...]
    duplicate_rows: int
    conflicting_rows: int
    categories: dict[str, int]
    sample_weight: tuple[float, float] | None
    query_weight: tuple[float, float] | None
    query_time: tuple[float, float] | None
    n_preferences: int | None
    has_docids: bool
    has_positions: bool
    has_comments: bool
    n_subtopics: int | None


def profile(data: RankingDataset) -> Profile:
    """Summarise a dataset. Features without names are numbered from 1, as in LETOR files.

    >>> data = RankingDataset.from_arrays([[1, 0], [1, 0], [3, 0]], [0, 2, 0], qid=[1, 1, 2])
    >>> facts = profile(data)
    >>> facts.labels, facts.queries_without_relevant, facts.constant, facts.conflicting_rows
    ({0.0: 2, 2.0: 1}, 1, (2,), 1)
    """
    features = _Features(data)
    names: Sequence[str | int] = data.feature_names or range(1, data.n_features + 1)
    first = _first_alike(data, features.hashes)
    repeated = np.flatnonzero(first != np.arange(data.n_rows))
    sizes = data.group if data.n_queries else np.array([np.nan])
    labels, unjudged, without_relevant, of_one_label = _labels(data)
    return Profile(
        n_queries=data.n_queries,
        n_rows=data.n_rows,
        n_features=data.n_features,
        sparse=not isinstance(data.X, np.ndarray),
        density=features.density,
        list_length={name: float(getattr(np, name)(sizes)) for name in ("min", "mean", "median", "max")},
        labels=labels,
        unjudged=unjudged,
        queries_without_relevant=without_relevant,
        queries_of_one_label=of_one_label,
        missing={names[j]: int(features.missing[j]) for j in np.flatnonzero(features.missing).tolist()},
        constant=tuple(names[j] for j in np.flatnonzero(features.constant).tolist()),
        duplicate_rows=repeated.size,
        conflicting_rows=0 if data.y is None else int((data.y[repeated] != data.y[first[repeated]]).sum()),
        categories={name: len(values) for name, values in (data.categories or {}).items()},
        sample_weight=_span(data.sample_weight),
        query_weight=_span(data.query_weight),
        query_time=_span(data.query_time),
        n_preferences=None if data.preferences is None else len(data.preferences),
        has_docids=data.docids is not None,
        has_positions=data.positions is not None,
        has_comments=data.comments is not None,
        n_subtopics=None if data.subtopics is None else data.subtopics.shape[1],
    )


def row_hashes(data: RankingDataset) -> np.ndarray:
    """A number for each row: rows of equal features have equal ones, others differ up to odds of about 2^-50 a pair.

    >>> data = RankingDataset.from_arrays([[1, 0], [1, 0], [3, 0]])
    >>> hashes = row_hashes(data)
    >>> bool(hashes[0] == hashes[1]), bool(hashes[0] == hashes[2])
    (True, False)
    """
    return _Features(data).hashes


def _span(values: np.ndarray | None) -> tuple[float, float] | None:
    return None if values is None or values.size == 0 else (float(values.min()), float(values.max()))


def _labels(data: RankingDataset) -> tuple[dict[float, int] | None, int, int, int]:
    """Histogram of the labels, unjudged documents, queries without a relevant one, queries of one label."""
    if data.y is None:
        return None, 0, 0, 0
    values, counts = np.unique(data.y, return_counts=True)
    best, worst = np.full(data.n_queries, -np.inf), np.full(data.n_queries, np.inf)
    judged = np.flatnonzero(data.y >= 0)
    np.maximum.at(best, data.query_of_row[judged], data.y[judged])
    np.minimum.at(worst, data.query_of_row[judged], data.y[judged])
    histogram = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return histogram, data.n_rows - judged.size, int((best <= 0).sum()), int((best <= worst).sum())


class _Features:
    """One pass over the cells: missing values, constant columns, density and a hash of each row."""

    def __init__(self, data: RankingDataset) -> None:
        n, d = data.X.shape
        # random odd numbers: rows that differ have different sums of products, up to odds of about 2^-50 a pair
        self.factors = np.random.default_rng(2**31 - 1).integers(0, 2**63, d, np.uint64) * np.uint64(2) + np.uint64(1)
        self.hashes = np.zeros(n, np.uint64)
        self.missing = np.zeros(d, np.int64)
        self.low = np.full(d, np.inf, np.float32)
        self.high = np.full(d, -np.inf, np.float32)
        self.nonzero = 0
        if isinstance(data.X, np.ndarray):
            self.dense(data.X)
        else:
            self.sparse(data.X)
        self.constant = (self.low >= self.high) & ((self.missing == 0) | (self.missing == n))
        self.density = self.nonzero / (n * d) if n * d else float("nan")

    def dense(self, X: np.ndarray) -> None:
        step = max(1, _BLOCK // max(X.shape[1], 1))
        for start in range(0, X.shape[0], step):
            block = X[start : start + step]
            self.missing += np.isnan(block).sum(axis=0)
            self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
            self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
            self.nonzero += int(np.count_nonzero(block))
            self.hashes[start : start + step] = _bits(block) @ self.factors

    def sparse(self, X: Any) -> None:
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        n, d = X.shape
        self.missing += np.bincount(X.indices[np.isnan(X.data)], minlength=d)
        np.fmin.at(self.low, X.indices, X.data)
        np.fmax.at(self.high, X.indices, X.data)
        filled = np.bincount(X.indices, minlength=d)
        self.low[filled < n] = np.fmin(self.low, 0)[filled < n]
        self.high[filled < n] = np.fmax(self.high, 0)[filled < n]
        self.nonzero = X.nnz
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        np.add.at(self.hashes, row, _bits(X.data) * self.factors[X.indices])


def _bits(values: np.ndarray) -> np.ndarray:
    """Bits of each number, mixed, so that equal numbers (0 and -0, any NaN) have equal bits."""
    values = np.where(np.isnan(values), np.float32(np.nan), values + np.float32(0))
    bits = values.astype(np.float32, copy=False).view(np.uint32)
    return (bits ^ bits >> 16).astype(np.uint64)  # round numbers end in many zero bits, which would weaken the sum


def _first_alike(data: RankingDataset, hashes: np.ndarray) -> np.ndarray:
    """For each row the first one of its query with the same hash."""
    if data.n_features == 0:
        return np.arange(data.n_rows)
    order = np.lexsort((hashes, data.query_of_row))  # stable: among equal rows the first comes first
    query, value = data.query_of_row[order], hashes[order]
    new = np.ones(order.size, bool)
    new[1:] = (query[1:] != query[:-1]) | (value[1:] != value[:-1])
    first = np.empty(order.size, np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1] if order.size else order
    return first
