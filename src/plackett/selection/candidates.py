"""The documents that may be judged: the union of several runs, with each run's rank of each document."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.data._tables import id_array
from plackett.data.trec import as_qrels, as_run

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset

__all__ = ["Candidates"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents of several runs, grouped by query, with what is known of each.

    Attributes
    ----------
    qids, docids
        Queries, in the order in which the runs have them, and documents of each, sorted by id.
    offsets
        First row of each query, and the number of rows.
    rank
        Rank of each row in each run, one line per run; 0 where the run lacks it.
    labels
        Judgement of each row so far, NaN where there is none.

    Examples
    --------
    >>> candidates = Candidates.from_runs([{"q": {"x": 3, "y": 2}}, {"q": {"y": 9, "z": 5}}], {"q": {"y": 1}})
    >>> candidates.docids.tolist(), candidates.rank.tolist(), candidates.labels.tolist()
    (['x', 'y', 'z'], [[1, 2, 0], [0, 1, 2]], [nan, 1.0, nan])
    """

    qids: np.ndarray
    docids: np.ndarray
    offsets: np.ndarray
    rank: np.ndarray
    labels: np.ndarray

    @classmethod
    def from_runs(cls, runs: Sequence[Any], judged: Any = None) -> Candidates:
        """Join runs, each in a form that `plackett.data.trec.as_run` takes, with the judgements so far.

        Documents of a run are ranked by descending score, ties by descending document id, as trec_eval does.
        Judgements of documents that no run has are left out. A label below 0 means "not judged".
        """
        import polars as pl

        if isinstance(runs, (str, os.PathLike, Mapping)) or not isinstance(runs, Sequence):
            raise DataError("runs must be a list of runs; put a single run in a list")
        if not runs:
            raise DataError("there are no runs to choose documents from")
        parts, queries = [], []
        for i, run in enumerate(runs):
            try:
                table = as_run(run)
            except DataError as error:
                raise DataError(f"runs[{i}]: {error}") from None
            queries.append(table.select("qid"))
            ranked = table.sort("score", "docid", descending=True)
            rank_column = pl.int_range(1, pl.len() + 1).over("qid").alias("rank")
            parts.append(ranked.select("qid", "docid", rank_column, pl.lit(i).alias("run")))
        if not any(part.height for part in parts):
            raise DataError("the runs are empty")
        number = pl.concat(queries).unique(maintain_order=True).with_row_index("query")
        entries = pl.concat(parts).join(number, on="qid")
        rows = entries.select("query", "docid").unique().sort("query", "docid").with_row_index("row")
        entries = entries.join(rows, on=["query", "docid"])
        rank = np.zeros((len(runs), rows.height), np.int64)
        rank[entries["run"].to_numpy(), entries["row"].to_numpy()] = entries["rank"].to_numpy()
        labels = np.full(rows.height, np.nan)
        if judged is not None:
            known = as_qrels(judged).filter(pl.col("label") >= 0).join(number, on="qid")
            known = known.join(rows, on=["query", "docid"])
            labels[known["row"].to_numpy()] = known["label"].to_numpy()
        sizes = np.bincount(rows["query"].to_numpy(), minlength=number.height)
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return cls(id_array(number["qid"]), id_array(rows["docid"]), offsets, rank, labels)

    @classmethod
    def from_dataset(cls, data: RankingDataset, scores: Any) -> Candidates:
        """Candidates from a dataset and the scores of one ranker; rows with a label below 0 are not judged yet."""
        numbers = np.asarray(scores, np.float64)
        if numbers.shape != (data.n_rows,) or not np.isfinite(numbers).all():
            raise DataError(f"a finite score per row is needed: {data.n_rows} rows, scores of shape {numbers.shape}")
        order = np.lexsort((-numbers, data.query_of_row))
        rank = np.empty((1, data.n_rows), np.int64)
        rank[0, order] = np.arange(data.n_rows) - data.offsets[data.query_of_row] + 1
        labels = np.full(data.n_rows, np.nan) if data.y is None else np.where(data.labels >= 0, data.labels, np.nan)
        docids = np.arange(data.n_rows) if data.docids is None else data.docids
        return cls(data.qids, docids, data.offsets, rank, labels)

    @property
    def n_rows(self) -> int:
        """Number of pairs of a query and a document."""
        return int(self.offsets[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @cached_property
    def query_of_row(self) -> np.ndarray:
        """Number of each row's query."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))

    @cached_property
    def open(self) -> np.ndarray:
        """Whether each row is still without a judgement."""
        return np.isnan(self.labels)

    @cached_property
    def length(self) -> np.ndarray:
        """Length of each run's list for each query, runs × queries."""
        return np.add.reduceat(self.rank > 0, self.offsets[:-1], axis=1)

    def count(self, chosen: np.ndarray) -> np.ndarray:
        """Number of chosen rows of each query."""
        return np.bincount(self.query_of_row, chosen, minlength=self.n_queries).astype(np.int64)

    def place(self, key: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Position of each row in its query by descending key, from 0, counting only ``among``; others come last."""
        order = np.lexsort((-key, ~among, self.query_of_row))
        position = np.empty(self.n_rows, np.int64)
        position[order] = np.arange(self.n_rows) - self.offsets[self.query_of_row]
        return position
