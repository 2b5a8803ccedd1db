"""A measure as an objective: its weighted mean over the training queries, for many score vectors at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError, MeasureError
from plackett.data.dataset import RankingDataset
from plackett.data.fields import NUMBERS, taken
from plackett.data.mapped import query_blocks, row_array
from plackett.data.moments import weight_of_rows
from plackett.data.parts import per_query, rows_where, values_at
from plackett.data.weights import given_or_ones
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored

#: Score vectors are ranked together up to this many scores; more would only cost memory. A dataset with more rows is
#: ranked in blocks of queries.
_SCORES_AT_ONCE = 1 << 18

#: ``scores(vectors, rows)``: the scores of some rows of the dataset, one row for each of some vectors.
Scores = Callable[[slice, Any], np.ndarray]


class MeasureObjective:
    """The lists of a dataset and a measure of them, larger is better (a measure of errors is negated).

    A measure cannot weight single documents, so weights are used as far as possible: documents of weight 0 are left out
    of their lists, and the weight of a query is ``query_weight`` times the mean weight of its documents.

    Parameters
    ----------
    data
        Labelled documents.
    measure
        Any measure.

    Attributes
    ----------
    weight
        Weight of each query, summing to 1; 0 for queries that the measure skips.
    row_weight
        Weight of each row of the dataset: of the document times that of its query; None if all weigh 1.

    Examples
    --------
    >>> from plackett.measures import AP
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1], qid=[1, 1, 2, 2])
    >>> MeasureObjective(data, AP).values(np.array([[2.0, 1.0, 2.0, 1.0], [2.0, 1.0, 1.0, 2.0]])).tolist()
    [0.75, 1.0]
    """

    def __init__(self, data: RankingDataset, measure: Measure, n_jobs: int | None = None) -> None:
        if data.y is None:
            raise DataError(f"{measure} needs labels, but the dataset has none; preferences alone cannot be measured")
        largest = float(data.labels.max(initial=0.0))
        if 0.0 < largest < getattr(measure, "rel", 0.0):
            raise DataError(
                f"no label is relevant to {measure}: the largest is {largest:g}; give another least relevant label, "
                f'such as "{measure(rel=largest)}"'
            )
        self.measure, self.n_jobs, self.X = measure, n_jobs, data.X
        self.sign = float(measure.worth(1.0))
        self.rows: np.ndarray | None = None
        self.lists = data.replace(X=np.empty((data.n_rows, 0), np.float32), preferences=None, comments=None)
        weight = given_or_ones(data.query_weight, data.n_queries)
        self.row_weight = weight_of_rows(data)
        if data.sample_weight is not None:
            sums = per_query(data, lambda part: np.bincount(part.query_of_row, part.sample_weight, part.n_queries))
            weight = weight * sums / np.maximum(data.group, 1)
            self.rows = rows_where(data, _weighed)
        if self.rows is not None:
            sizes = per_query(data, lambda part: np.bincount(part.query_of_row, _weighed(part), part.n_queries))
            self.lists = _some_rows(self.lists, self.rows, sizes.astype(np.int64), data.X)
            weight = weight[sizes > 0]
        self._tiles: dict[int, RankingDataset] = {1: self.lists}
        skipped = np.isnan(self._measured(1, lambda vectors, rows: np.zeros((1, _count(rows)))))[0]
        weight = np.where(skipped, 0.0, weight)
        self.weight = weight / max(float(weight.sum()), np.finfo(float).tiny)

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of queries that are ranked together: all, or blocks of them if there are many documents.

        Labels that are not grades are ranked as a whole, because gains of some measures depend on the largest label.
        """
        if self.lists.n_rows <= _SCORES_AT_ONCE or self.lists.max_grade is None:
            return [(0, self.lists.n_queries)]
        return list(query_blocks(self.lists.offsets))

    def part(self, lo: int, hi: int) -> RankingDataset:
        """The lists of some queries."""
        if hi - lo == self.lists.n_queries:
            return self.lists
        part = self.lists.select(np.arange(lo, hi))
        vars(part)["max_grade"] = self.lists.max_grade  # measures are asked about all of the data
        return part

    def per_query(self, scores: np.ndarray | Scores, n: int = 1) -> np.ndarray:
        """Value of each query, ``(vectors, queries)``, 0 if skipped.

        Each row of the scores is a vector; or a function returns those of some rows for some of n vectors.
        """
        if not callable(scores):
            vectors = np.atleast_2d(scores)
            scores, n = lambda some, rows: vectors[some, rows], len(vectors)
        values = self._measured(n, scores)
        np.nan_to_num(values, copy=False, nan=0.0)
        values *= self.sign
        return values

    def values(self, scores: np.ndarray | Scores, n: int = 1) -> np.ndarray:
        """Weighted mean over queries for each vector of scores; see `per_query`."""
        values = self.per_query(scores, n)
        values *= self.weight
        return values.sum(axis=1)  # with BLAS, rounding would depend on the number of vectors

    def value(self, scores: np.ndarray) -> float:
        """Weighted mean over queries for one vector of scores."""
        return float(self.values(scores)[0])

    def along(self, scores: np.ndarray, slope: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Weighted mean over queries for ``scores + t * slope`` at each point t."""
        return self.values(lambda some, rows: scores[rows] + points[some, None] * slope[rows], points.size)

    def check_bounds(self, who: str) -> None:
        """Reject a measure with values outside −1…1."""
        low, high = self.measure.bounds
        if low < -1.0 or high > 1.0:
            raise MeasureError(
                f"{who} needs a measure between -1 and 1, and {self.measure} lies between {low:g} and {high:g}; "
                "use a normalised one such as nDCG or AP"
            )

    def _measured(self, n: int, scores: Scores) -> np.ndarray:
        """Values of n vectors, NaN if skipped; on the disk if the features are."""
        out = row_array(self.X, (n, self.lists.n_queries))
        for lo, hi in self.blocks:
            part = self.part(lo, hi)
            inside = slice(int(self.lists.offsets[lo]), int(self.lists.offsets[hi]))
            rows = inside if self.rows is None else self.rows[inside]
            step = max(1, _SCORES_AT_ONCE // max(part.n_rows, 1)) if part is self.lists else 1
            for start in range(0, n, step):
                some = slice(start, min(start + step, n))
                tiled = self._tiled(some.stop - start) if step > 1 else part
                scored = Scored(tiled, scores(some, rows).ravel(), n_jobs=self.n_jobs)
                out[some, lo:hi] = self.measure.per_query(scored).reshape(some.stop - start, -1)
        return out

    def _tiled(self, n: int) -> RankingDataset:
        """Several score vectors as one dataset, in which every list occurs once for each vector."""
        if n not in self._tiles:
            tiled = self.lists.select(np.tile(np.arange(self.lists.n_queries), n))
            self._tiles = {1: self.lists, n: tiled}
        return self._tiles[n]


def _weighed(data: RankingDataset) -> np.ndarray:
    """Which documents have a weight."""
    return np.ones(data.n_rows, bool) if data.sample_weight is None else data.sample_weight > 0


def _count(rows: Any) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else rows.size


def _some_rows(data: RankingDataset, rows: np.ndarray, sizes: np.ndarray, X: Any) -> RankingDataset:
    """The dataset with only these rows, and the queries that have any."""
    queries = np.flatnonzero(sizes)
    names = ("docids", *(name for name in NUMBERS if name not in ("sample_weight", "query_weight")))
    fields = taken(data, lambda values: values_at(values, rows, X), lambda values: values[queries], names)
    return RankingDataset(
        **{"y": None} | fields,
        X=np.empty((rows.size, 0), np.float32),
        offsets=np.concatenate(([0], np.cumsum(sizes[queries]))),
        qids=data.qids[queries],
    )
