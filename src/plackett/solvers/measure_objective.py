"""A measure as an objective: its weighted mean over the training queries, for many score vectors at once."""

from __future__ import annotations

import numpy as np

from plackett._errors import DataError, MeasureError
from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored

__all__ = ["MeasureObjective"]

#: Score vectors are ranked together up to this many scores; more would only cost memory.
_SCORES_AT_ONCE = 1 << 20


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
        Weight of each row of the dataset: of the document times that of its query.

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
        self.measure, self.n_jobs = measure, n_jobs
        self.sign = float(measure.worth(1.0))
        self.rows: np.ndarray | None = None
        self.lists = data.replace(X=np.empty((data.n_rows, 0), np.float32), preferences=None, comments=None)
        weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
        self.row_weight = data.row_weight
        if data.sample_weight is not None:
            sums = np.bincount(data.query_of_row, data.sample_weight, data.n_queries)
            weight = weight * sums / np.maximum(data.group, 1)
            if not data.sample_weight.all():
                self.rows = np.flatnonzero(data.sample_weight > 0)
                self.lists = _some_rows(self.lists, self.rows)
        weight = weight[self._kept_queries(data)]
        self._tiles: dict[int, RankingDataset] = {1: self.lists}
        skipped = np.isnan(self._measured(np.zeros((1, self.lists.n_rows))))[0]
        weight = np.where(skipped, 0.0, weight)
        self.weight = weight / max(float(weight.sum()), np.finfo(float).tiny)

    def _kept_queries(self, data: RankingDataset) -> np.ndarray:
        if self.rows is None:
            return np.arange(data.n_queries)
        return np.unique(data.query_of_row[self.rows])

    def per_query(self, scores: np.ndarray) -> np.ndarray:
        """Value of each query, ``(vectors, queries)``, 0 if skipped; each row of scores is a vector."""
        scores = np.atleast_2d(scores)
        if self.rows is not None:
            scores = scores[:, self.rows]
        step = max(1, _SCORES_AT_ONCE // max(self.lists.n_rows, 1))
        parts = [self._measured(scores[i : i + step]) for i in range(0, len(scores), step)]
        return self.sign * np.nan_to_num(np.concatenate(parts), nan=0.0)

    def values(self, scores: np.ndarray) -> np.ndarray:
        """Weighted mean over queries for each vector of scores."""
        return (self.per_query(scores) * self.weight).sum(
            axis=1
        )  # with BLAS, rounding would depend on the number of vectors

    def value(self, scores: np.ndarray) -> float:
        """Weighted mean over queries for one vector of scores."""
        return float(self.values(scores)[0])

    def check_bounds(self, who: str) -> None:
        """Reject a measure with values outside −1…1."""
        low, high = self.measure.bounds
        if low < -1.0 or high > 1.0:
            raise MeasureError(
                f"{who} needs a measure between -1 and 1, and {self.measure} lies between {low:g} and {high:g}; "
                "use a normalised one such as nDCG or AP"
            )

    def _measured(self, scores: np.ndarray) -> np.ndarray:
        """Several score vectors as one dataset, in which every list occurs once for each vector."""
        n = len(scores)
        if n not in self._tiles:
            tiled = self.lists.select(np.tile(np.arange(self.lists.n_queries), n))
            self._tiles = {1: self.lists, n: tiled}
        tiled = self._tiles[n]
        return self.measure.per_query(Scored(tiled, scores.ravel(), n_jobs=self.n_jobs)).reshape(n, -1)


def _some_rows(data: RankingDataset, rows: np.ndarray) -> RankingDataset:
    """The dataset with only these rows, and the queries that have any."""
    queries, sizes = np.unique(data.query_of_row[rows], return_counts=True)
    per_row = {
        name: None if (value := getattr(data, name)) is None else value[rows]
        for name in ("X", "y", "docids", "positions", "subtopics")
    }
    return RankingDataset(
        **per_row,
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        qids=data.qids[queries],
        subtopic_weight=None if data.subtopic_weight is None else data.subtopic_weight[queries],
    )
