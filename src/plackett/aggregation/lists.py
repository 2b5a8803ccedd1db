"""Several rankings of the documents of each query, as one flat table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._kernels.kernel import over_queries
from plackett._names.nearest import plural
from plackett.aggregation._places import best_first, places
from plackett.data.dataset import RankingDataset
from plackett.data.frame_columns import id_series
from plackett.data.grouping import ids_array

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RankLists"]

#: How to treat a document that a list lacks but others have.
UNRANKED = {
    "below": "it ranks below all documents of the list, tied with the others that the list lacks",
    "unknown": "the list says nothing about it",
}


class Places(NamedTuple):
    """Position of each document in each list: how many documents come before it, and how many up to it and its ties.

    Tables of int32, rows × lists; -1 in both if the list says nothing about the document.
    """

    before: np.ndarray
    upto: np.ndarray

    @property
    def ranks(self) -> np.ndarray:
        """Rank of each document, 1 is the top; ties share the mean of their ranks. NaN if there is none."""
        return np.where(self.before < 0, np.nan, 0.5 * (self.before + 1.0 + self.upto))


@dataclass(frozen=True, eq=False, repr=False)
class RankLists:
    """Several ranked lists of documents for each query, complete or not.

    Create it with `from_runs`, `from_dataset`, `from_orders` or `from_arrays`. Rows are documents, grouped by query;
    the rows of query ``q`` are ``offsets[q]:offsets[q + 1]``.

    Attributes
    ----------
    values
        Rows × lists, float64: the score that the list gives the document, larger is better (for a list of ranks: minus
        the rank). NaN if the list does not have the document.
    offsets, qids
        First row of each query and its end; the ids of the queries.
    ids
        Ids of the documents, or None; see `docids`.
    names
        Name of each list.

    Examples
    --------
    >>> lists = RankLists.from_runs({"bm25": {"q": {"a": 9.0, "b": 7.0}}, "dense": {"q": {"b": 0.8, "c": 0.2}}})
    >>> lists
    RankLists(1 query, 3 documents, 2 lists: bm25, dense)
    >>> lists.ranks.tolist()
    [[1.0, nan], [2.0, 1.0], [nan, 2.0]]
    """

    values: np.ndarray
    offsets: np.ndarray
    qids: np.ndarray
    ids: Any
    names: tuple[str, ...]

    # ----------------------------------------------------------------------------------------------------------- make

    @classmethod
    def from_runs(cls, runs: Sequence[Any] | Mapping[str, Any], *, names: Sequence[str] | None = None) -> RankLists:
        """Make lists from TREC runs: paths, frames or dicts, as for `plackett.evaluate_run`, in a list or by name.

        Some runs may lack a query or a document. Raises an error if a run has a document twice for a query, a score
        that is not a number, or no documents.
        """
        from plackett.aggregation._joining import join_runs

        if isinstance(runs, Mapping):
            names, runs = [str(name) for name in runs], list(runs.values())
        names = _names(names, len(runs))
        values, offsets, qids, docids, positions = join_runs(runs, names)
        lists = cls(values, offsets, qids, docids, names)
        if positions is not None:  # the runs are already sorted
            lists.__dict__["_known_places"] = Places(*positions)
        return lists

    @classmethod
    def from_dataset(cls, data: RankingDataset, *, kind: str = "ranks") -> RankLists:
        """Make lists from a dataset whose features are ranks (LETOR's aggregation sets) or ``"scores"``; NaN: unranked.

        >>> data = RankingDataset.from_arrays([[1, 2], [2, np.nan]], [1, 0], qid=["q", "q"])
        >>> RankLists.from_dataset(data).values.tolist()
        [[-1.0, -2.0], [-2.0, nan]]
        """
        if not isinstance(data.X, np.ndarray):
            raise DataError("the lists must be a dense table: in a sparse one an unranked document would have rank 0")
        return cls._made(data.X, kind, data.offsets, data.qids, data.docids, data.feature_names)

    @classmethod
    def from_arrays(
        cls,
        values: Any,
        qid: Any = None,
        *,
        kind: str = "ranks",
        docids: Any = None,
        names: Sequence[str] | None = None,
    ) -> RankLists:
        """Make lists from a documents × lists table of ranks or ``"scores"``; NaN means not ranked, rows in any order.

        The rows of the result are grouped by query, in the order of first appearance.

        >>> RankLists.from_arrays([[1, 2], [2, 1]]).n_lists
        2
        """
        table = np.asarray(values, float)
        if table.ndim != 2:
            raise DataError(f"values must be a table documents × lists, got shape {table.shape}")
        data = RankingDataset.from_arrays(None, np.zeros(table.shape[0]), qid, docids=docids)
        return cls._made(data.from_input_order(table), kind, data.offsets, data.qids, data.docids, names)

    @classmethod
    def from_orders(cls, orders: Any, *, documents: Iterable[Any] | None = None) -> RankLists:
        """Make lists from orders of document ids, best first: a list of orders for one query, or a dict by query.

        ``documents`` are all documents, for every query; by default those that occur in the orders.

        >>> RankLists.from_orders([["a", "b"], ["b"]]).ranks.tolist()
        [[1.0, nan], [2.0, 1.0]]
        """
        queries = orders if isinstance(orders, Mapping) else {0: orders}
        n_lists = max((len(lists) for lists in queries.values()), default=0)
        known = None if documents is None else {document: i for i, document in enumerate(documents)}
        rows, docids, sizes = [], [], []
        for qid, lists in queries.items():
            number: dict[Any, int] = {} if known is None else dict(known)
            table: list[list[float]] = [[np.nan] * n_lists for _ in number]
            for m, order in enumerate(lists):
                for rank, document in enumerate(order, 1):
                    if known is not None and document not in known:
                        raise DataError(f"query {qid!r}, list {m}: document {document!r} is not among the documents")
                    if document not in number:
                        number[document] = len(number)
                        table.append([np.nan] * n_lists)
                    if not np.isnan(table[number[document]][m]):
                        raise DataError(f"query {qid!r}: list {m} has document {document!r} twice")
                    table[number[document]][m] = rank
            rows += table
            docids += list(number)
            sizes.append(len(number))
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        values = np.array(rows, float).reshape(len(rows), n_lists)
        return cls._made(values, "ranks", offsets, ids_array(list(queries), "qid"), ids_array(docids, "docid"), None)

    @classmethod
    def _made(cls, table: Any, kind: str, offsets: Any, qids: Any, docids: Any, names: Any) -> RankLists:
        if kind not in ("ranks", "scores"):
            raise DataError(f"kind={kind!r}; give 'ranks' (1 is the best) or 'scores' (larger is better)")
        values = np.array(table, np.float64)
        return cls._checked(
            -values if kind == "ranks" else values, offsets, qids, docids, _names(names, table.shape[1])
        )

    @classmethod
    def _checked(cls, values: Any, offsets: Any, qids: Any, docids: Any, names: tuple[str, ...]) -> RankLists:
        if values.shape[1] == 0:
            raise DataError("there are no lists to aggregate")
        if values.shape[0] == 0:
            raise DataError("the lists have no documents")
        # copy the offsets: those of a dataset may be read-only, and kernels would be compiled again for them
        lists = cls(np.ascontiguousarray(values), np.array(offsets, np.int64), qids, docids, names)
        for q in np.flatnonzero(lists.group == 0)[:1]:
            raise DataError(f"query {lists.qids[q : q + 1].tolist()[0]!r} has no documents in any list")
        largest = np.fmax.reduce(np.abs(lists.values), axis=0)  # NaN only if a column has nothing else
        for m in np.flatnonzero(np.isnan(largest))[:1]:
            raise DataError(f"list {names[m]!r} is empty: it ranks no document of any query")
        for m in np.flatnonzero(np.isinf(largest))[:1]:
            row = int(np.flatnonzero(np.isinf(lists.values[:, m]))[0])
            where = f"query {lists.query_of(row)!r}, list {names[m]!r}: document {lists.document(row)}"
            raise DataError(f"{where} has an infinite value; use NaN for documents that are not ranked")
        return lists

    # -------------------------------------------------------------------------------------------------------- numbers

    @property
    def n_rows(self) -> int:
        """Number of documents over all queries."""
        return self.values.shape[0]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def n_lists(self) -> int:
        """Number of lists per query."""
        return self.values.shape[1]

    def __repr__(self) -> str:
        some = ", ".join(self.names[:6]) + (", …" if self.n_lists > 6 else "")
        counts = (self.n_queries, "query", "queries"), (self.n_rows, "document"), (self.n_lists, "list")
        return f"RankLists({', '.join(plural(*each, form='') for each in counts)}: {some})"

    def query_of(self, row: int) -> Any:
        """Id of the query of a row."""
        return self.qids[np.searchsorted(self.offsets, row, side="right") - 1]

    def document(self, row: int) -> str:
        """Name of the document of a row, for messages."""
        return f"number {row}" if self.ids is None else repr(self.docids[int(row)])

    @cached_property
    def docids(self) -> pl.Series:
        """Ids of the documents as a polars column; row numbers if none were given."""
        import polars as pl

        if isinstance(self.ids, pl.Series):
            return self.ids
        return id_series("docid", np.arange(self.n_rows) if self.ids is None else self.ids)

    @cached_property
    def listed(self) -> np.ndarray:
        """Whether each list has each document."""
        return ~np.isnan(self.values)

    @cached_property
    def unlisted(self) -> np.ndarray:
        """Rows that are in no list."""
        return np.flatnonzero(~self.listed.any(axis=1))

    @cached_property
    def group(self) -> np.ndarray:
        """Number of documents of each query."""
        return np.diff(self.offsets)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Repeat per-query values for each of their rows."""
        return np.repeat(values, self.group, axis=0)

    @cached_property
    def memo(self) -> dict[Any, np.ndarray]:
        """Tables derived from the lists alone, which methods reuse with other weights."""
        return {}

    def once(self, key: Any, make: Callable[[], np.ndarray]) -> np.ndarray:
        """``make()`` at the first call with this key, the same table afterwards."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    # ---------------------------------------------------------------------------------------------------------- ranks

    @cached_property
    def _known_places(self) -> Places:
        return self._places(False)

    @cached_property
    def _filled_places(self) -> Places:
        return self._places(True)

    def _places(self, fill: bool) -> Places:
        table = Places(np.empty(self.values.shape, np.int32), np.empty(self.values.shape, np.int32))
        over_queries(places, self.offsets, self.values, fill, table.before, table.upto)
        return table

    def places(self, unranked: str = "unknown") -> Places:
        """Position of each document in each list; ``unranked`` is one of `UNRANKED`."""
        choice("unranked", unranked, UNRANKED)
        return self._filled_places if unranked == "below" else self._known_places

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each document in each list among the documents here; ties share the mean. NaN means not ranked."""
        return self._known_places.ranks

    def column(self, m: int) -> np.ndarray:
        """Scores of one list alone; minus infinity if it lacks the document."""
        return np.nan_to_num(self.values[:, m], nan=-np.inf)

    # ---------------------------------------------------------------------------------------------------------- parts

    def select(self, queries: Any) -> RankLists:
        """Select queries, by number or by mask."""
        index = np.arange(self.n_queries)[np.asarray(queries)]
        sizes = self.group[index]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], sizes)
        ids = None if self.ids is None else self.ids[rows]
        return RankLists(self.values[rows], offsets, self.qids[index], ids, self.names)

    def run(self, scores: Any) -> pl.DataFrame:
        """Scores of the rows as a run: columns ``qid``, ``docid``, ``score``, best first in each query."""
        import polars as pl

        scores = np.ascontiguousarray(scores, float)
        if scores.shape != (self.n_rows,):
            raise DataError(f"scores have shape {scores.shape}, but the lists have {self.n_rows} documents")
        query = np.repeat(np.arange(self.n_queries), self.group)
        rows = np.empty(self.n_rows, np.int64)
        over_queries(best_first, self.offsets, scores, rows)
        order = pl.Series(rows)
        qids = id_series("qid", self.qids).cast(pl.String).gather(pl.Series(query))  # rows stay grouped in this order
        docids = self.docids.cast(pl.String).alias("docid").gather(order)
        return pl.DataFrame([qids, docids, pl.Series("score", scores).gather(order)])


def _names(names: Sequence[str] | None, n_lists: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(i) for i in range(n_lists))
    if len(names) != n_lists or len(set(names)) != n_lists:
        raise DataError(f"names must be {n_lists} different names, one per list; got {list(names)}")
    return tuple(str(name) for name in names)
