"""Churn: what users would see change if one ranker replaced another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._names.nearest import plural
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.data.required import check_dataset
from plackett.evaluation.tables import Renderable, Table
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

if TYPE_CHECKING:
    import polars as pl

__all__ = ["churn"]


@dataclass(frozen=True, eq=False, repr=False)
class Churn(Renderable):
    """What would change for users: the result of `churn`.

    Attributes
    ----------
    per_query
        A row per query: ``qid``, ``replaced`` (results among the first k of the old ranking that the new one does not
        have there), ``moved`` (those in both, at another rank), ``first_changes`` and, with labels, the measure of
        ``old`` and ``new`` and their ``difference``. The largest changes come first.
    documents
        A row per document among the first k of either: ``qid``, ``docid``, ``old_rank``, ``new_rank`` and, with
        labels, ``label``. A document without an id is named by its row in the query, from 1.
    k
        Number of results that users see.
    measure
        Name of the measure.
    """

    per_query: pl.DataFrame
    documents: pl.DataFrame
    k: int
    measure: str

    @cached_property
    def mean(self) -> dict[str, float]:
        """Means over queries; ``unchanged`` is the share of queries whose first k results stay as they are."""
        frame = self.per_query
        numbers = [name for name in frame.columns if name != "qid"]
        means = {name: frame[name].cast(float).mean() for name in numbers}
        per_column = {name: np.nan if value is None else float(value) for name, value in means.items()}  # type: ignore[arg-type]
        still = (frame["replaced"] == 0) & (frame["moved"] == 0)
        return per_column | {"unchanged": float(still.mean())}  # type: ignore[arg-type]

    def example(self, qid: Any) -> pl.DataFrame:
        """Results of one query before and after, in the new order."""
        documents = self.documents.filter(self.documents["qid"] == qid)
        if not documents.height:
            raise DataError(f"there is no query {qid!r}")
        return documents.drop("qid").sort("new_rank", "old_rank")

    def example_tables(self, n: int = 2) -> list[Table]:
        """The results before and after of the n queries that change most; queries that do not change are left out."""
        tables = []
        changed = self.per_query.filter((self.per_query["replaced"] > 0) | (self.per_query["moved"] > 0))
        for row in changed.head(n).rows(named=True):
            part = self.example(row["qid"])
            cells = []
            for one in part.rows(named=True):
                ends = [f"{one[name]}" if one[name] <= self.k else "–" for name in ("old_rank", "new_rank")]
                label = [f"{one['label']:g}"] if "label" in one else []
                cells.append([str(one["docid"]), *ends, *label])
            value = row.get("difference")
            gain = "" if value is None else f"; {self.measure} {row['old']:.4f} before, {row['new']:.4f} after"
            header = ("document", "rank before", "rank after", *(["label"] if "label" in part.columns else []))
            tables.append(Table.of(header, tuple(cells), caption=f"Query {row['qid']}{gain}"))
        return tables

    def __repr__(self) -> str:
        m = self.mean
        return (
            f"Churn({plural(self.per_query.height, 'query', 'queries', form='')}: {m['replaced']:.2f} of the first "
            f"{self.k} results replaced, {m['moved']:.2f} moved, {m['unchanged']:.0%} of queries unchanged)"
        )

    def _layout(self, *, n_queries: int = 10, digits: int = 4) -> Table:  # type: ignore[override]
        names = self.per_query.columns
        rows = tuple(
            tuple(f"{value:.{digits}f}" if isinstance(value, float) else _word(value) for value in row)
            for row in self.per_query.head(n_queries).rows()
        )
        m = self.mean
        notes = (
            f"What would change for users: of the first {self.k} results, {m['replaced']:.2f} are replaced and "
            f"{m['moved']:.2f} move, on average over {plural(self.per_query.height, 'query', 'queries')}; "
            f"{m['unchanged']:.0%} of the queries stay as they are.",
        )
        return Table.of(tuple(name.replace("_", " ") for name in names), rows, notes=notes)

    def _frame(self) -> pl.DataFrame:
        return self.per_query

    def _record(self) -> dict[str, Any]:
        return {"k": self.k, "measure": self.measure, "mean": self.mean, "per_query": self.per_query.to_dicts()}


def churn(old: Any, new: Any, data: RankingDataset, *, k: int = 10, measure: Any = "nDCG@10") -> Churn:
    """What would change for users if ``new`` replaced ``old``: the first k results of each query, before and after.

    Parameters
    ----------
    old, new
        Fitted rankers, or scores in the grouped order of the data. Of equal scores, the document with the smaller id
        comes first, or the first row if there are no ids.
    data
        The lists. Labels are optional; with them, the result also says which changes are for the better.
    k
        Number of results that users see.
    measure
        Measure of the lists before and after.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.7.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [0, 1, 2, 0], qid=[7, 7, 7, 7], docids=["a", "b", "c", "d"])
    >>> changes = churn([4, 3, 2, 1], [3, 1, 4, 2], data, k=2)
    >>> changes
    Churn(1 query: 1.00 of the first 2 results replaced, 1.00 moved, 0% of queries unchanged)
    >>> changes.example(7).rows()
    [('c', 3, 1, 2.0), ('a', 1, 2, 0.0), ('b', 2, 4, 1.0)]
    """
    import polars as pl

    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise DataError(f"k={k!r}; give a whole number of 1 or more")
    check_dataset(data)
    scores = [scores_of(data, each) for each in (old, new)]
    ranks = [top_ranks(data, each) for each in scores]
    query = data.query_of_row
    before, after = (each <= k for each in ranks)
    gone = np.bincount(query[before & ~after], minlength=data.n_queries)
    moved = np.bincount(query[before & after & (ranks[0] != ranks[1])], minlength=data.n_queries)
    first = np.bincount(query[(ranks[0] == 1) & (ranks[1] != 1)], minlength=data.n_queries) > 0
    ids = data.qids.tolist() if data.qids.dtype.kind == "T" else data.qids
    columns = {"qid": ids, "replaced": gone, "moved": moved, "first_changes": first}
    frame = pl.DataFrame(columns)
    seen = np.flatnonzero(before | after)
    names = (np.arange(data.n_rows) - data.offsets[query] + 1) if data.docids is None else data.docids
    documents = {
        "qid": np.asarray(data.qids)[query[seen]].tolist(),
        "docid": np.asarray(names)[seen].tolist(),
        "old_rank": ranks[0][seen],
        "new_rank": ranks[1][seen],
    }
    parsed = parse(measure)
    sort = ["replaced", "moved"]
    if data.y is not None:
        documents["label"] = data.labels[seen]
        values = [parsed.per_query(Scored(data, each)) for each in scores]
        frame = frame.with_columns(
            pl.Series("old", values[0]), pl.Series("new", values[1]), pl.Series("difference", values[1] - values[0])
        ).with_columns(pl.col("old", "new", "difference").fill_nan(None))
    frame = frame.sort(sort, descending=True, maintain_order=True)
    return Churn(frame, pl.DataFrame(documents), int(k), str(parsed))


def top_ranks(data: RankingDataset, scores: np.ndarray) -> np.ndarray:
    """Rank of each document in its list, from 1.

    >>> top_ranks(RankingDataset.from_arrays(None, None, qid=[1, 1, 2]), np.array([1.0, 2.0, 3.0])).tolist()
    [2, 1, 1]
    """
    query = data.query_of_row
    ties = np.arange(data.n_rows)
    if data.docids is not None:
        ties = np.argsort(np.argsort(np.asarray(data.docids), kind="stable"), kind="stable")
    order = np.lexsort((ties, -scores, query))
    ranks = np.empty(data.n_rows, np.int64)
    ranks[order] = np.arange(data.n_rows) - data.offsets[query] + 1
    return ranks


def mean_replaced(data: RankingDataset, old: np.ndarray, new: np.ndarray, k: int = 10) -> float:
    """Mean number of results among the first k of the old ranking that are not among those of the new one.

    >>> data = RankingDataset.from_arrays(None, None, qid=[1, 1, 1])
    >>> mean_replaced(data, np.array([3, 2, 1]), np.array([1, 2, 3]), 1)
    1.0
    """
    gone = (top_ranks(data, old) <= k) & (top_ranks(data, new) > k)
    return float(gone.sum() / max(data.n_queries, 1))


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "" if value is None else str(value)
