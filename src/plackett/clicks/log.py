"""Result pages with what users did on them, as flat arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from dataclasses import replace as dataclass_replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._files import storage
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.sort import order_of_groups
from plackett.clicks._codes import codes, joined_codes, number_pairs
from plackett.clicks.distinct_pages import distinct_pages
from plackett.clicks.fields import IDS, MAX_RANK, NUMBERS, PAGES, ROWS
from plackett.clicks.given import GivenPages
from plackett.clicks.users import hash_users
from plackett.data.read_only import hold_read_only
from plackett.data.strings import pack_ids

if TYPE_CHECKING:
    import polars as pl

    from plackett.clicks.bad_lines import BadLines

__all__ = ["ClickLog"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClickLog:
    """Result pages in the order in which they were logged, with documents as shown and clicks. Immutable.

    Page ``i`` has the rows ``offsets[i]:offsets[i + 1]``, one per document, from the top down; pages may differ in
    length. Ids are stored once, and arrays over pages and rows have their codes: the query of page ``i`` is
    ``queries[query[i]]``, the document of row ``j`` is ``documents[document[j]]``.

    Make one with `from_arrays` or `from_frame`, or read a file with `plackett.clicks.read_clicks`.

    Attributes
    ----------
    offsets
        First row of each page, int64, length ``n_pages + 1``.
    query
        Code of the query of each page, int32.
    document
        Code of the document of each row, int32.
    clicks
        Number of clicks on each row, int32; 0 is a document that was shown and not clicked.
    queries, documents
        Ids of the codes, as given: integers stay integers, strings strings.
    click_order
        When the document was first clicked among the clicks of the page, from 1; 0 if not clicked. None if unknown.
    dwell
        Seconds spent on the document after a click, float32, NaN where unknown. None if unknown for all.
    actions
        Weight of what was done beyond a click (put into the cart 1, bought 5, …), summed per row, float32. Or None.
    propensities
        Probability with which the logging ranker put this document at this rank. Or None.
    conditional_propensities
        Probability of this document at this rank given the documents above it: their product over a page is the
        probability of the page. Or None.
    ranks
        Rank of each row, from 1, ascending on each page, where pages do not start at the top or have holes (a second
        page of results, documents that were not logged). None for 1, 2, ….
    users
        Hashed user id of each page, uint64; 0 is unknown. Or None.
    times
        Seconds since 1970 of each page, float64, NaN where unknown. Or None.
    ranker, rankers
        Code of the ranker that made each page, int32, and the names of the codes. Or None.
    weight
        How often each page counts, float64: pages that are the same in all but user and time may be stored once
        (`collapse`). None counts every page once.
    bad_lines
        What the reader could not use, or None for a log that was not read from a file.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["q", "q"], [["a", "b", "c"], ["c", "a"]], [[0, 1, 0], [0, 0]])
    >>> log.offsets.tolist(), log.rank.tolist(), log.clicks.tolist()
    ([0, 3, 5], [1, 2, 3, 1, 2], [0, 1, 0, 0, 0])
    >>> log.documents[log.document].tolist()
    ['a', 'b', 'c', 'c', 'a']
    """

    offsets: np.ndarray
    query: np.ndarray
    document: np.ndarray
    clicks: np.ndarray
    queries: np.ndarray
    documents: np.ndarray
    click_order: np.ndarray | None = None
    dwell: np.ndarray | None = None
    actions: np.ndarray | None = None
    propensities: np.ndarray | None = None
    conditional_propensities: np.ndarray | None = None
    ranks: np.ndarray | None = None
    users: np.ndarray | None = None
    times: np.ndarray | None = None
    ranker: np.ndarray | None = None
    rankers: np.ndarray | None = None
    weight: np.ndarray | None = None
    bad_lines: BadLines | None = None

    def __post_init__(self) -> None:
        hold_read_only(self)

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_arrays(
        cls,
        query: Any,
        documents: Any,
        clicks: Any,
        *,
        lengths: Any = None,
        click_order: Any = None,
        dwell: Any = None,
        actions: Any = None,
        propensities: Any = None,
        conditional_propensities: Any = None,
        ranks: Any = None,
        users: Any = None,
        times: Any = None,
        ranker: Any = None,
        weight: Any = None,
        key: bytes | str | None = None,
    ) -> ClickLog:
        """Make a log from arrays.

        Parameters
        ----------
        query
            Id of the query of each page.
        documents, clicks
            Ids of the documents of each page from the top down, and their numbers of clicks (or booleans): a table of
            pages × ranks, a list of lists, or flat arrays together with ``lengths``.
        lengths
            Number of documents of each page, for flat arrays.
        click_order, dwell, actions, propensities, conditional_propensities, ranks
            In the form of ``clicks``.
        users
            User id of each page; hashed with ``key`` (`plackett.clicks.hash_users`). An array of uint64 is taken to be
            hashed already.
        times, ranker, weight
            One entry per page.
        """
        query_codes, queries = codes(query, "query")
        given = GivenPages(documents, lengths, query_codes.size)
        document_codes, document_ids = codes(given.documents, "documents")
        made: dict[str, Any] = {"clicks": given.rows(clicks, "clicks", np.int32)}
        for name, values in (
            ("click_order", click_order),
            ("dwell", dwell),
            ("actions", actions),
            ("propensities", propensities),
            ("conditional_propensities", conditional_propensities),
            ("ranks", ranks),
        ):
            made[name] = None if values is None else given.rows(values, name, ROWS[name])
        for name, values in (("times", times), ("weight", weight)):
            made[name] = None if values is None else given.pages(values, name, PAGES[name])
        if ranker is not None:
            made["ranker"], made["rankers"] = codes(given.pages(ranker, "ranker"), "ranker")
        if users is not None:
            ids = given.pages(users, "users")
            made["users"] = ids if ids.dtype == np.uint64 else hash_users(ids, key)
        return cls(
            offsets=np.concatenate(([0], np.cumsum(given.sizes))).astype(np.int64),
            query=query_codes,
            document=document_codes,
            queries=queries,
            documents=document_ids,
            **made,
        ).checked()

    @classmethod
    def from_frame(cls, frame: Any, **columns: Any) -> ClickLog:
        """Make a log from a table with one row per shown document, or per page with lists in its cells.

        Column names and options are those of `plackett.clicks.read_clicks`.
        """
        from plackett.clicks.readers.frames import arrays_of_frame

        arrays, bad_lines = arrays_of_frame(frame, **columns)
        return cls.from_arrays(**arrays).replace(bad_lines=bad_lines)

    def checked(self) -> Self:
        """The log itself, after checks of what kernels rely on; `DataError` names what is wrong."""
        n_pages, n_rows = self.query.size, self.document.size
        if not offsets_fit(self.offsets, n_rows, n_pages):
            raise DataError("offsets must begin at 0, increase, and end at the number of rows")
        for name, size, within in (("query", n_pages, self.queries.size), ("document", n_rows, self.documents.size)):
            column = getattr(self, name)
            if column.size != size or (size and not 0 <= column.min() <= column.max() < within):
                raise DataError(f"{name} has a code that is not one of its {within} ids")
        if self.clicks.size != n_rows or self.clicks.min(initial=0) < 0:
            raise DataError("clicks must be a number of clicks per row, 0 or more")
        deepest = int(np.diff(self.offsets).max(initial=0) if self.ranks is None else self.ranks.max(initial=0))
        if deepest > MAX_RANK:
            raise DataError(
                f"the largest rank is {deepest}; ranks go up to {MAX_RANK}. If this is a rank, leave out what is below"
            )
        for names, size in ((ROWS, n_rows), (PAGES, n_pages)):
            for name in names:
                column = getattr(self, name)
                if column is not None and column.shape != (size,):
                    raise DataError(f"{name} has shape {column.shape} instead of ({size},)")
        if (self.ranker is None) != (self.rankers is None):
            raise DataError("ranker and rankers belong together")
        if self.ranker is not None and n_pages and not 0 <= self.ranker.min() <= self.ranker.max() < self.rankers.size:  # type: ignore[union-attr]
            raise DataError("ranker has a code that is not one of its names")
        if self.ranks is not None and n_rows:
            rises = np.diff(self.ranks) > 0
            rises[self.offsets[1:-1][(self.offsets[1:-1] > 0) & (self.offsets[1:-1] < n_rows)] - 1] = True
            if not rises.all() or self.ranks.min() < 1:
                row = 0 if self.ranks.min() < 1 else int(np.flatnonzero(~rises)[0]) + 1
                raise DataError(f"ranks must rise from 1 on each page; see the page of row {row}")
        for name in ("propensities", "conditional_propensities"):
            column = getattr(self, name)
            if column is not None and not ((column > 0) & (column <= 1)).all():
                row = int(np.flatnonzero(~((column > 0) & (column <= 1)))[0])
                raise DataError(
                    f"{name}[{row}] is {column[row]}; a shown document has a probability above 0, at most 1"
                )
        if self.weight is not None and not (np.isfinite(self.weight) & (self.weight >= 0)).all():
            raise DataError("weight must be finite and not negative")
        if self.click_order is not None and ((self.click_order > 0) != (self.clicks > 0)).any():
            row = int(np.flatnonzero((self.click_order > 0) != (self.clicks > 0))[0])
            raise DataError(f"click_order[{row}] is {self.click_order[row]}, but the row has {self.clicks[row]} clicks")
        return self

    # ---------------------------------------------------------------------------------------------------- properties

    @property
    def n_pages(self) -> int:
        """Number of pages."""
        return self.query.size

    @property
    def n_rows(self) -> int:
        """Number of shown documents, over all pages."""
        return self.document.size

    @property
    def n_queries(self) -> int:
        """Number of distinct queries."""
        return self.queries.size

    @property
    def n_pairs(self) -> int:
        """Number of distinct pairs of query and document."""
        return self.pair_document.size

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of documents of each page."""
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        """The largest rank."""
        return int(self.lengths.max(initial=0) if self.ranks is None else self.ranks.max(initial=0))

    @cached_property
    def page(self) -> np.ndarray:
        """Page of each row, int32."""
        page = np.empty(self.n_rows, np.int32)
        over_queries(_fill_pages, self.offsets, page)
        return page

    @cached_property
    def rank(self) -> np.ndarray:
        """Rank of each row on its page, from 1, int32."""
        if self.ranks is not None:
            return self.ranks
        rank = np.empty(self.n_rows, np.int32)
        over_queries(_fill_ranks, self.offsets, rank)
        return rank

    @cached_property
    def clicked(self) -> np.ndarray:
        """Whether each row was clicked."""
        return self.clicks > 0

    @cached_property
    def last_click(self) -> np.ndarray:
        """Rank of the lowest click of each page; 0 for a page without clicks."""
        last = np.zeros(self.n_pages, np.int32)
        rows = np.flatnonzero(self.clicked)
        last[self.page[rows]] = self.rank[rows]  # ranks grow along a page, and the last one written stays
        return last

    @cached_property
    def skipped(self) -> np.ndarray:
        """Whether each row was passed over: not clicked, and above a click."""
        return ~self.clicked & (self.rank < np.repeat(self.last_click, self.lengths))

    @cached_property
    def page_weight(self) -> np.ndarray:
        """How often each page counts; ones if the log has no weights."""
        return np.ones(self.n_pages) if self.weight is None else self.weight

    @cached_property
    def row_weight(self) -> np.ndarray:
        """How often each row counts."""
        return np.repeat(self.page_weight, self.lengths)

    @cached_property
    def query_pages(self) -> np.ndarray:
        """First position in `by_query` of each query code, and the number of pages at the end."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.query, minlength=self.n_queries))))

    @cached_property
    def by_query(self) -> np.ndarray:
        """Pages sorted by query, in logged order inside each."""
        return order_of_groups(self.query, self.query_pages)

    @cached_property
    def query_rows(self) -> np.ndarray:
        """Number of rows of all queries before each query code, and of all queries at the end."""
        return np.concatenate(([0], np.cumsum(self.lengths[self.by_query])))[self.query_pages]

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return number_pairs(self.by_query, self.query_pages, self.offsets, self.document, self.documents.size)

    @property
    def pair(self) -> np.ndarray:
        """Number of the pair of query and document of each row, int32; pairs of one query are contiguous."""
        return self._pairs[0]

    @cached_property
    def pair_query(self) -> np.ndarray:
        """Code of the query of each pair, ascending."""
        return np.repeat(np.arange(self.n_queries, dtype=np.int32), np.diff(self.query_pairs))

    @property
    def pair_document(self) -> np.ndarray:
        """Code of the document of each pair."""
        return self._pairs[1]

    @property
    def query_pairs(self) -> np.ndarray:
        """First pair of each query code, and the number of pairs at the end."""
        return self._pairs[2]

    def __len__(self) -> int:
        return self.n_pages

    def __repr__(self) -> str:
        clicks = int((self.clicked * self.row_weight).sum())
        return (
            f"ClickLog({self.n_pages} pages, {self.n_rows} rows, {self.n_queries} queries, {self.n_pairs} pairs, "
            f"{clicks} clicks)"
        )

    # ------------------------------------------------------------------------------------------------ other logs

    def replace(self, **changes: Any) -> ClickLog:
        """A copy of the log with some arrays replaced."""
        return dataclass_replace(self, **changes).checked()

    def select(self, pages: Any) -> ClickLog:
        """Some pages, by numbers or by a mask; ids keep their codes.

        >>> log = ClickLog.from_arrays(["q", "p"], [["a", "b"], ["c", "a"]], [[0, 1], [0, 0]])
        >>> log.select([1]).documents[log.select([1]).document].tolist()
        ['c', 'a']
        """
        chosen = np.asarray(pages)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        sizes = self.lengths[chosen]
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.repeat(self.offsets[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
        changes: dict[str, Any] = {"document": self.document[rows], "clicks": self.clicks[rows]}
        for names, index in ((ROWS, rows), (PAGES, chosen)):
            for name in names:
                column = getattr(self, name)
                changes[name] = None if column is None else column[index]
        return dataclass_replace(self, offsets=starts, query=self.query[chosen], bad_lines=None, **changes)

    def truncate(self, k: int) -> ClickLog:
        """The ranks 1 to k of each page."""
        kept = self.rank <= k
        changes: dict[str, Any] = {name: getattr(self, name) for name in ("document", "clicks", *ROWS)}
        changes = {name: None if column is None else column[kept] for name, column in changes.items()}
        starts = np.concatenate(([0], np.cumsum(kept)))[self.offsets].astype(np.int64)
        return dataclass_replace(self, offsets=starts, **changes)

    def split(self, fraction: float = 0.75, *, by: str = "page", random_state: Any = None) -> tuple[ClickLog, ClickLog]:
        """Two parts of the log, such as training and test.

        Parameters
        ----------
        fraction
            Share of the first part.
        by
            ``"page"`` or ``"query"`` draws at random; ``"time"`` cuts by time (or by the order of the log if times are
            not known).
        """
        rng = np.random.default_rng(random_state)
        if by == "page":
            first = rng.permutation(self.n_pages) < round(fraction * self.n_pages)
        elif by == "query":
            first = (rng.permutation(self.n_queries) < round(fraction * self.n_queries))[self.query]
        elif by == "time":
            order = np.arange(self.n_pages) if self.times is None else np.argsort(self.times, kind="stable")
            first = np.zeros(self.n_pages, bool)
            first[order[: round(fraction * self.n_pages)]] = True
        else:
            raise DataError(f"by={by!r}; a log is split by 'page', 'query' or 'time'")
        return self.select(first), self.select(~first)

    def collapse(self) -> ClickLog:
        """The distinct pages (same query, documents and clicked ones), each with its count as weight.

        Order of clicks, dwell times, users, times and propensities are dropped. Every click model gives the same
        estimates on the collapsed log, in less time.
        """
        first, weight = distinct_pages(
            self.offsets, self.query, self.document, self.rank, self.clicked, self.page_weight
        )
        kept = self.select(first)
        drop: dict[str, Any] = dict.fromkeys(({*ROWS} - {"ranks"}) | {*PAGES, "rankers"})
        return kept.replace(**(drop | {"weight": weight, "clicks": kept.clicked.astype(np.int32)}))

    @classmethod
    def concat(cls, logs: Iterable[ClickLog]) -> ClickLog:
        """One log out of several, which may have different ids. Optional arrays are kept if all logs have them."""
        parts = list(logs)
        if not parts:
            raise DataError("no logs to put together")
        changes: dict[str, Any] = {}
        for name in (*ROWS, *PAGES):
            values = [getattr(log, name) for log in parts]
            changes[name] = None if any(value is None for value in values) else np.concatenate(values)
        if any(log.ranks is not None for log in parts):
            changes["ranks"] = np.concatenate([log.rank for log in parts])
        if any(log.weight is not None for log in parts):
            changes["weight"] = np.concatenate([log.page_weight for log in parts])
        for code, ids in (("query", "queries"), ("document", "documents"), ("ranker", "rankers")):
            if code != "ranker" or changes["ranker"] is not None:
                changes[code], changes[ids] = joined_codes(
                    [(getattr(log, code), getattr(log, ids)) for log in parts], ids
                )
        sizes = np.concatenate([log.lengths for log in parts])
        return cls(
            offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            clicks=np.concatenate([log.clicks for log in parts]),
            **changes,
        ).checked()

    # ------------------------------------------------------------------------------------------------------- output

    def to_frame(self) -> pl.DataFrame:
        """Polars frame with one row per shown document: page, query, document, rank, clicks and what else is known."""
        import polars as pl

        from plackett.data.frame_columns import id_series

        columns = [
            pl.Series("page", self.page),
            id_series("query", self.queries).gather(self.query[self.page]),
            id_series("document", self.documents).gather(self.document),
            pl.Series("rank", self.rank),
            pl.Series("clicks", self.clicks),
        ]
        known = [name for name in ROWS if name != "ranks" and getattr(self, name) is not None]
        columns += [pl.Series(name, getattr(self, name)) for name in known]
        for name in PAGES:
            column = getattr(self, name)
            if name == "ranker" and column is not None:
                columns.append(id_series("ranker", self.rankers).gather(column[self.page]))  # type: ignore[arg-type]
            elif column is not None:
                columns.append(pl.Series(name, column[self.page]))
        return pl.DataFrame(columns)

    def pair_frame(self) -> pl.DataFrame:
        """Polars frame with one row per distinct pair: query, document, pages that showed it, and clicked ones."""
        shown = np.bincount(self.pair, self.row_weight, minlength=self.n_pairs)
        clicked = np.bincount(self.pair, self.row_weight * self.clicked, minlength=self.n_pairs)
        return self.with_pairs(shown=shown, clicked=clicked)

    def with_pairs(self, **columns: np.ndarray) -> pl.DataFrame:
        """Polars frame with one row per distinct pair: query, document, and these columns."""
        import polars as pl

        from plackett.data.frame_columns import id_series

        return pl.DataFrame(
            [
                id_series("query", self.queries).gather(self.pair_query),
                id_series("document", self.documents).gather(self.pair_document),
                *(pl.Series(name, values) for name, values in columns.items()),
            ]
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the log to one file, which runs no code when it is opened (`plackett.clicks.open_log`)."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS if getattr(self, name) is not None}
        for name in IDS:
            if getattr(self, name) is not None:
                arrays |= pack_ids(name, getattr(self, name))
        metadata = {"kind": "click log"}
        if self.bad_lines is not None:
            metadata["bad_lines"] = json.dumps(asdict(self.bad_lines))
        storage.write(path, arrays, metadata)


@kernel
def _fill_ranks(lo, hi, offsets, rank):
    for page in range(lo, hi):
        for i in range(offsets[page + 1] - offsets[page]):
            rank[offsets[page] + i] = i + 1


@kernel
def _fill_pages(lo, hi, offsets, out):
    for page in range(lo, hi):
        for row in range(offsets[page], offsets[page + 1]):
            out[row] = page
