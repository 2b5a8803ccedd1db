"""Logs of events: a row of a table, or a JSON object, per impression, click or other action."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._files.parquet import named_damage
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.fields import MAX_RANK
from plackett.clicks.log import ClickLog
from plackett.clicks.readers.lines import lines
from plackett.clicks.readers.objects import ENVELOPE, objects, table_of_objects
from plackett.clicks.readers.page_arrays import FROM_ZERO, NoPagesError, page_arrays
from plackett.clicks.readers.proposals import kinds_of, propose, shown_kinds
from plackett.clicks.readers.roles import about_page
from plackett.clicks.readers.row_rules import TOO_LONG
from plackett.clicks.readers.table_files import batches, damaged
from plackett.clicks.readers.table_format import LINE, LONG
from plackett.clicks.readers.times import seconds
from plackett.data.frame_columns import as_polars, is_table, look

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_events"]

#: Files whose events are the rows of a table; others have a JSON object per line.
TABLES = (".csv", ".tsv", ".tab", ".parquet")
#: Rows read at once, and most files that events are sorted into while a log larger than memory is read.
AT_ONCE, MOST_FILES = 500_000, 256
#: Kinds of events that are counted at most; more are no kinds.
MOST_KINDS = 1000
#: What an event is.
SHOWN, CLICK, ACTION, QUERY = range(4)
#: Ways to rank the impressions of a page that have no rank.
WAYS = ("time", "order")
#: What the document of a page may have besides its rank, as in a table of pages.
EXTRAS = ("ranker", "propensity", "conditional_propensity")


def read_events(
    path: Any,
    *,
    page: str | Sequence[str] | None = None,
    query: str | None = None,
    document: str | None = None,
    action: str | None = None,
    rank: str | None = None,
    rank_by: str | None = None,
    shown: str | Sequence[str] = "impression",
    click: str | Sequence[str] = "click",
    actions: Mapping[str, float] | Sequence[str] | str | None = None,
    value: str | None = None,
    time: str | None = None,
    user: str | None = None,
    ranker: str | None = None,
    propensity: str | None = None,
    conditional_propensity: str | None = None,
    where: Mapping[str, Any] | str | None = None,
    event: str | None = None,
    first_rank: int | str | None = None,
    key: bytes | str | None = None,
    queries: Mapping[str, Any] | None = None,
) -> ClickLog:
    r"""Read a log of events: one per impression, click or other action, in any order.

    The log is a file (``.csv``, ``.tsv``, ``.parquet``, else JSON lines) or a table of pandas, polars or Arrow. JSON
    objects may be wrapped in ``_source`` (exports of an index), and lines of a bulk request (``{"index": …}``) are
    passed over. Nested fields are named by paths such as ``event_attributes.object.object_id`` or
    ``event_params.search_term``; an event with a list of items has ``items.item_id`` and ``items.index``.

    Nothing is guessed: without ``page``, ``query``, ``document`` and ``action`` an error says what the log has, and
    proposes the call. A document that a page shows twice has its first rank. Clicks and actions on what a page did not
    show are counted in ``bad_lines.notes``.

    Parameters
    ----------
    page
        Field that impressions and clicks of one result page share, or several that tell pages apart together
        (``"session,query"``).
    query
        Field with the query.
    document, rank
        Fields with the document and its rank.
    rank_by
        For impressions without a rank: ``"time"`` ranks the documents of a page in the order in which they were shown,
        ``"order"`` in the order of the log.
    action, shown, click
        Field with the kind of the event, and its values for an impression and a click (several: ``"view,seen"``).
    actions
        Other kinds that count, with their weights: ``{"purchase": 5}``, ``"add_to_cart=1,purchase=5"``, or names
        alone for a weight of 1.
    value
        Field with what an action is worth, such as the price paid: multiplies its weight.
    time, user
        Fields with the time (ISO 8601, or seconds to nanoseconds since 1970) and the user.
    ranker, propensity, conditional_propensity
        Fields of impressions: the ranker of the page, and the chances with which it showed the document there.
    where
        Fields and the value that each must have, such as ``{"application": "shop"}`` or ``"application=shop"``.
    event
        Field with the id of the event: an event that was delivered twice counts once. Exports of an index have ``_id``.
    first_rank
        What the top rank is called, 0 or 1. None takes the smallest one found.
    key
        Key of the hash of user ids.
    queries
        Query of each page, where the events do not have it.

    Examples
    --------
    >>> import polars as pl
    >>> shop = pl.DataFrame(
    ...     {"search": ["s1"] * 4, "text": ["red shoe"] * 4, "sku": ["a", "b", "b", "b"], "pos": [1, 2, 2, None],
    ...      "what": ["seen", "seen", "click", "order"], "paid": [None, None, None, 39.9]})
    >>> names = {"page": "search", "query": "text", "document": "sku", "rank": "pos", "action": "what"}
    >>> log = read_events(shop, **names, shown="seen", actions="order", value="paid")
    >>> log.clicks.tolist(), log.actions.tolist()
    ([0, 1], [0.0, 39.900001525878906])
    """
    fields: dict[str, Any] = {"page": page, "query": query, "document": document, "action": action}
    fields |= {"rank": rank, "rank_by": rank_by}
    fields |= {"shown": shown, "click": click, "actions": actions, "value": value, "time": time, "user": user}
    fields |= {"ranker": ranker, "propensity": propensity, "conditional_propensity": conditional_propensity}
    fields |= {"where": where, "event": event, "queries": queries}
    return EventLog(path, EventForm.of(path, **fields), first_rank, key).whole()


def iter_events(
    path: str | os.PathLike[str],
    n_rows: int,
    *,
    first_rank: int | str | None = None,
    key: bytes | str | None = None,
    **fields: Any,
) -> Iterator[ClickLog]:
    """Read a log of events in parts of about ``n_rows`` events; for the fields see `read_events`."""
    yield from EventLog(path, EventForm.of(path, **fields), first_rank, key).parts(n_rows)


@dataclass(frozen=True, kw_only=True)
class EventForm:
    """Which fields of an event mean what; see `read_events`."""

    page: tuple[str, ...]
    query: str
    document: str
    action: str
    rank: str | None = None
    rank_by: str | None = None
    shown: tuple[str, ...] = ("impression",)
    click: tuple[str, ...] = ("click",)
    actions: Mapping[str, float] = field(default_factory=dict)
    value: str | None = None
    time: str | None = None
    user: str | None = None
    ranker: str | None = None
    propensity: str | None = None
    conditional_propensity: str | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    event: str | None = None
    queries: Mapping[str, Any] = field(default_factory=dict)
    #: A field that is the same for all impressions of one log.
    source: str | None = None
    #: Whether objects without an action say what the query of their page is.
    lists_queries: bool = False

    @classmethod
    def of(cls, path: Any, **given: Any) -> EventForm:
        """The form of a log from what its user says; if that is too little, an error proposes what to say."""
        name = "the table" if is_table(path) else os.fspath(path)
        given = {role: value for role, value in given.items() if value is not None}
        missing = [role for role in ("page", "query", "document", "action") if role not in given]
        if missing or not {"rank", "rank_by"} & {*given}:
            wanted = missing[0] if missing else "rank"
            order = " (or say rank_by=time or rank_by=order, -c rank_by=…)" if wanted == "rank" else ""
            defaults = ("impression", "click")
            said = {role: value for role, value in given.items() if value not in defaults}
            proposal = propose(_sample(path), name, said)
            raise DataError(
                f"{name}: which field is the {wanted}? Name it: {wanted}=FIELD, on the command line -c {wanted}=FIELD"
                f"{order}{proposal and f'; {proposal}'}"
            )
        if given.get("rank_by", WAYS[0]) not in WAYS:
            raise DataError(f"rank_by={given['rank_by']!r}; give {' or '.join(WAYS)}")
        if {"rank", "rank_by"} <= {*given}:
            raise DataError("rank and rank_by are both given; rank_by is for impressions that have no rank")
        if given.get("rank_by") == "time" and "time" not in given:
            raise DataError(f"{name}: rank_by='time' needs the field of the time (time=FIELD, -c time=FIELD)")
        for role in ("shown", "click"):
            given[role] = _several(given.get(role, getattr(cls, role)))
        columns = as_polars(path).columns if is_table(path) else ()
        given["page"] = (given["page"],) if given["page"] in columns else _several(given["page"])
        given["actions"] = {kind: _weight(kind, each) for kind, each in _pairs(given.get("actions", {}), 1.0).items()}
        twice = [kind for kind in given["shown"] if kind in given["click"]]
        twice += [kind for kind in given["actions"] if kind in given["shown"] + given["click"]]
        if twice:
            raise DataError(f"{twice[0]!r} is given for two kinds of events; shown, click and actions must differ")
        return cls(**given | {"where": _pairs(given.get("where", {}))})

    @property
    def paths(self) -> dict[str, str]:
        """Field of each column of the events."""
        single = ("query", "document", "action", "rank", "value", "time", "user", *EXTRAS, "event", "source")
        found = {role: getattr(self, role) for role in single if getattr(self, role)}
        found |= {f"page {i}": name for i, name in enumerate(self.page)}
        return found | {f"where {name}": name for name in self.where}


def _several(value: Any) -> tuple[str, ...]:
    """One name, several between commas, or a sequence of them."""
    return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else tuple(map(str, value))


def _pairs(value: Any, default: Any = None) -> dict[str, Any]:
    """Names with values, also written ``"name=value,name=value"``; names alone have the default value."""
    if isinstance(value, Mapping):
        return {str(name): each for name, each in value.items()}
    found: dict[str, Any] = {}
    for text in _several(value):
        name, equals, given = text.rpartition("=")
        if not equals and default is None:
            raise DataError(f"{text!r}: write FIELD=VALUE")
        found[name if equals else text] = given if equals else default
    return found


def _weight(kind: str, given: Any) -> float:
    try:
        weight = float(given)
    except (TypeError, ValueError):
        weight = math.nan
    if not math.isfinite(weight):
        raise DataError(f"actions: the weight of {kind!r} is {given!r}; give a number")
    return weight


def _is_text(path: Any) -> bool:
    from plackett.data.file_bytes import bare_suffix

    return bare_suffix(path) not in TABLES


def _sample(path: Any) -> Iterator[Mapping[str, Any]]:
    """Events from the beginning of a log, as objects."""
    import polars as pl

    if not is_table(path):
        check_regular(path)
    if not is_table(path) and _is_text(path):
        yield from (event for _, event in objects(path, BadLines("")))
        return
    try:
        for frame in [as_polars(path)] if is_table(path) else batches(path, BadLines(""), 10_000, None):
            yield from frame.drop(LINE, LONG, strict=False).iter_rows(named=True)
    except pl.exceptions.PolarsError as error:
        raise damaged(path, error, None) from None


class EventLog:
    """A log of events while it is read: whole, or in parts, for which its events are first sorted by page into files.

    Parameters
    ----------
    path
        The file or table.
    form
        What its fields mean.
    queries
        Another file, with the queries of pages.
    """

    def __init__(
        self, path: Any, form: EventForm, first_rank: int | str | None, key: bytes | str | None, queries: Any = None
    ) -> None:
        if first_rank is not None and str(first_rank) not in ("0", "1"):
            raise DataError(f"first_rank={first_rank!r}; the top rank is called 0 or 1")
        if not is_table(path):
            check_regular(path)  # it may be read more than once
        self.path, self.form, self.key, self.queries = path, form, key, queries
        self.top = None if first_rank is None else int(first_rank)
        self.bad = BadLines("the table", unit="row") if is_table(path) else BadLines(os.fspath(path))
        given = {"page": ",".join(form.page)} | form.paths
        self.bad.columns = {role: name for role, name in given.items() if " " not in role}
        self.lowest = math.inf
        self.kinds: dict[str, int] = {}
        self.sources: set[str | None] = set()
        self.acted = False

    def whole(self) -> ClickLog:
        """The log in memory."""
        import polars as pl

        frames = [*self._events(AT_ONCE)]
        self._check()
        log = self._log(pl.concat(frames)) if frames else None
        if log is None:
            raise DataError(f"no complete result pages (impressions with page, query, document and rank); {self.bad}")
        return log

    def parts(self, n_rows: int) -> Iterator[ClickLog]:
        """Logs of about this many events; those of a page may be anywhere in the file."""
        import polars as pl

        if is_table(self.path):
            raise DataError("a table is in memory already: read_clicks(table, 'events', …)")
        n_files = min(max(1, -(-_count(self.path) // n_rows)), MOST_FILES)
        with tempfile.TemporaryDirectory(prefix="plackett-clicks-") as folder:
            names = [os.path.join(folder, str(i)) for i in range(n_files)]
            schema: pl.Schema | None = None
            with ExitStack() as stack:
                files = [stack.enter_context(open(name, "wb")) for name in names]
                for events in self._events(min(n_rows, AT_ONCE)):
                    schema = events.schema
                    to = (pl.col("page").hash(seed=0) % n_files).alias("to")
                    for (part,), rows in events.group_by(to):
                        rows.write_csv(files[int(str(part))], include_header=False)
            self._check()
            found = False
            for name in names:
                if os.path.getsize(name):
                    log = self._log(pl.read_csv(name, has_header=False, schema=schema))
                    os.remove(name)
                    found = found or log is not None
                    if log is not None:
                        yield log
            if not found:
                raise DataError(f"no complete result pages; {self.bad}")

    # ---------------------------------------------------------------------------------------------- events one by one

    def _events(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Events that can be used, as tables with the same columns."""
        import polars as pl

        try:
            for raw in self._raw(self.path, n_rows, self.bad):
                yield self._usable(raw)
            if self.queries is not None:
                for raw in self._raw(self.queries, n_rows, BadLines("")):
                    yield self._usable(raw.filter(raw["action"].is_null()))
        except pl.exceptions.PolarsError as error:
            raise damaged(self.path, error, None) from None

    def _raw(self, path: Any, n_rows: int, bad: BadLines) -> Iterator[pl.DataFrame]:
        """Tables with a column for each field, and the line."""
        import polars as pl

        paths = self.form.paths
        if not is_table(path) and (_is_text(path) or self.form.lists_queries):
            yield from table_of_objects(objects(path, bad), {"event": ENVELOPE} | paths, bad, n_rows)
            return
        frames: Iterable[pl.DataFrame]
        if is_table(path):
            frames = [as_polars(path).with_row_index(LINE)]
            bad.total = frames[0].height
        else:
            frames = batches(path, bad, n_rows, None)
        for frame in frames:
            frame = frame.with_columns(pl.col(LINE).cast(pl.Int64))
            if LONG in frame.columns:
                bad.add_all(TOO_LONG, frame.filter(LONG).select(LINE, pl.lit("")))
                frame = frame.filter(~pl.col(LONG)).drop(LONG)
            heads = self._heads(frame, paths)
            if heads:  # the fields of nested columns are taken out row by row
                used = frame.select(LINE, *dict.fromkeys(heads.get(name, name) for name in paths.values()))
                numbered = ((row.pop(LINE), row) for row in used.iter_rows(named=True))
                yield from table_of_objects(numbered, paths, bad, n_rows)
            else:
                yield frame.select(pl.col(LINE).alias("line"), **{role: pl.col(n) for role, n in paths.items()})

    def _heads(self, frame: pl.DataFrame, paths: dict[str, str]) -> dict[str, str]:
        """The nested columns, by the fields that are inside of them."""
        heads: dict[str, str] = {}
        for role, name in paths.items():
            head = name if name in frame.columns else name.partition(".")[0]
            if head not in frame.columns:
                raise DataError(
                    f"{self.bad.source}: {role.split()[0]}={name!r}: there is no such column; {look(frame.drop(LINE))}"
                )
            if frame.schema[head].is_nested():
                heads[name] = head
        self.bad.unused = [name for name in frame.columns if name not in {*paths.values(), *heads.values(), LINE}]
        return heads

    def _usable(self, raw: pl.DataFrame) -> pl.DataFrame:
        """Events with page, query, document, kind, rank, worth, time, user, id and line; others are counted."""
        import polars as pl

        form = self.form
        raw = self._known_kinds(self._typed(raw))
        asks, shows = pl.col("kind") == QUERY, pl.col("kind") == SHOWN
        raw = raw.filter(~(asks & (pl.col("page").is_null() | pl.col("query").is_null())))
        raw = self._without(raw, pl.col("page").is_null(), f"no {' or '.join(form.page)}")
        raw = self._without(raw, pl.col("document").is_null() & ~asks, f"no {form.document}")
        if form.rank:
            whole = pl.col("number").is_between(0, MAX_RANK) & (pl.col("number") == pl.col("number").round())
            wrong = shows & ~whole.fill_null(False)
            raw = self._without(raw, wrong, f"{form.rank} is not a whole number up to {MAX_RANK}")
        if form.value:
            wrong = (pl.col("kind") == ACTION) & ~pl.col("worth").is_finite().fill_null(False)
            raw = self._without(raw, wrong, f"{form.value} is not a number")
        times = pl.Series(seconds(raw, self.bad)).fill_nan(None) if form.time else pl.lit(None, pl.Float64)
        raw = raw.with_columns(time=times)
        if form.rank_by == "time":
            raw = self._without(raw, shows & pl.col("time").is_null(), f"an impression without {form.time}")
        self.lowest = float(raw.filter(shows)["number"].drop_nulls().to_numpy().min(initial=self.lowest))
        self.acted = self.acted or bool((raw["kind"] == ACTION).any())
        if form.source:
            self.sources |= {*raw.filter(shows)["source"].to_list()}
        weight = pl.col("action").replace_strict({**form.actions}, default=0.0, return_dtype=pl.Float64)
        return raw.select(
            *("page", "query", "document", "kind", "time", "line"),
            pl.col("user").cast(pl.String),
            pl.col("event").cast(pl.String).replace("", None),
            pl.col("number").alias("rank"),
            (weight * (pl.col("worth") if form.value else 1.0)).alias("worth"),
            *(pl.col(role).cast(pl.String) for role in EXTRAS if role in raw.columns),
        )

    def _typed(self, raw: pl.DataFrame) -> pl.DataFrame:
        """The events of the form, with ids and numbers instead of texts, and the kind of each or null."""
        import polars as pl

        form = self.form
        kind_of: dict[str, int] = {}
        for number, kinds in ((SHOWN, form.shown), (CLICK, form.click), (ACTION, form.actions)):
            kind_of |= dict.fromkeys(kinds, number)
        for name, value in form.where.items():
            same = (pl.col(f"where {name}").cast(pl.String) == str(value)).fill_null(False)
            raw = raw.filter(same | pl.col("action").is_null() if form.lists_queries else same)
        pages = [pl.col(f"page {i}").cast(pl.String).replace("", None) for i in range(len(form.page))]
        absent = pl.lit(None, pl.String)
        raw = raw.with_columns(
            _ids(raw["query"]),
            _ids(raw["document"]),
            pl.col("action").cast(pl.String).replace("", None),
            pl.concat_str(pages, separator="\x1f").alias("page"),
            *(absent.alias(role) for role in ("rank", "value", "time", "user", "event") if role not in raw.columns),
        )
        raw = raw.with_columns(
            kind=pl.col("action").replace_strict(kind_of, default=None, return_dtype=pl.Int8),
            number=_number(raw["rank"]),
            worth=_number(raw["value"]),
        )
        if form.lists_queries:
            raw = raw.with_columns(kind=pl.when(pl.col("action").is_null()).then(QUERY).otherwise("kind"))
        return raw

    def _known_kinds(self, raw: pl.DataFrame) -> pl.DataFrame:
        """The events whose kind is used; all kinds are counted, and those that are not used noted."""
        import polars as pl

        form = self.form
        raw = self._without(raw, pl.col("action").is_null() & pl.col("kind").is_null(), f"no {form.action}")
        for kind, n in raw["action"].drop_nulls().value_counts().rows():
            if kind in self.kinds or len(self.kinds) < MOST_KINDS:
                self.kinds[kind] = self.kinds.get(kind, 0) + n
        others = raw.filter(pl.col("kind").is_null())
        for (kind,), rows in others.group_by("action", maintain_order=True):
            if len(self.bad.notes) < MOST_KINDS:
                self.bad.note_all(f"{form.action} is {kind!r}, which is not used", _to_show(rows))
        return raw.filter(pl.col("kind").is_not_null())

    def _without(self, raw: pl.DataFrame, wrong: pl.Expr, reason: str) -> pl.DataFrame:
        """The other rows; these are counted."""
        self.bad.add_all(reason, _to_show(raw.filter(wrong)))
        return raw.filter(~wrong)

    def _check(self) -> None:
        """Refuse a log whose kinds of events are not those that were named, or that is of several sources."""
        form = self.form
        if form.source and form.source not in form.where and len(self.sources) > 1:
            names = ", ".join(sorted(map(str, self.sources)))
            raise DataError(
                f"{self.bad.source}: impressions of several {form.source}s ({names}), which may number ranks "
                f"differently; choose one with {form.source}=… (on the command line --{form.source})"
            )
        self._check_kinds()
        if self.top is None:
            lowest = 1 if self.lowest == math.inf else int(self.lowest)
            self.top = min(lowest, 1)
            if lowest == 0 and form.rank:
                self.bad.note(FROM_ZERO, self.bad.first, "")
            if lowest > 1:
                self.bad.note(f"ranks begin at {lowest}; they are taken to count from 1", self.bad.first, "")

    def _check_kinds(self) -> None:
        """Impressions must be there, and clicks if there are kinds of events that might be clicks."""
        form, used = self.form, {*self.form.shown, *self.form.click, *self.form.actions}
        free = {kind: n for kind, n in self.kinds.items() if kind not in used}
        for role, what in (("shown", "an impression"), ("click", "a click")):
            wanted = getattr(form, role)
            if not free or form.lists_queries or not {*wanted}.isdisjoint(self.kinds):
                continue
            perhaps = kinds_of(free)[role]
            advice = f", such as {','.join(perhaps)!r}" if perhaps else ""
            raise DataError(
                f"{self.bad.source}: no event is {what} ({role}={','.join(wanted)!r}). {form.action} has the values "
                f"{shown_kinds(self.kinds)}. Name the value{advice}: {role}=VALUE, on the command line -c {role}=VALUE"
            )

    # ---------------------------------------------------------------------------------------------- events as pages

    def _log(self, events: pl.DataFrame) -> ClickLog | None:
        """The log of the pages, or None if no page is complete."""
        import polars as pl

        keys, asks = ["page", "document"], pl.col("kind") == QUERY
        first = pl.col("line").min().over("page", "event")
        again = pl.col("event").is_not_null() & (pl.col("line") != first) & ~asks
        events = self._without(events, again, "an event whose id was seen before")
        pages = self._pages(events)
        events = events.filter(~asks).join(pages.select("page"), on="page", how="semi", maintain_order="left")
        shown = events.filter(pl.col("kind") == SHOWN)
        if self.form.rank_by == "time":
            shown = shown.sort("time", "line", maintain_order=True)
        if self.form.rank:
            other = pl.col("rank") != pl.col("rank").first().over(keys)
            self.bad.note_all(
                "a document is shown twice on one page; the first rank counts", _to_show(shown.filter(other))
            )
        rows = shown.unique(keys, keep="first", maintain_order=True)
        if self.form.rank_by:
            rows = rows.with_columns(rank=pl.int_range(pl.len()).over("page") + self.top)
        clicks = self._on_shown(events.filter(pl.col("kind") == CLICK), rows, "a click")
        clicks = clicks.sort("time", "line", nulls_last=True)
        counts = clicks.group_by(keys).agg(clicks=pl.len())
        order = clicks.unique(keys, keep="first", maintain_order=True)
        order = order.select(*keys, click_order=pl.int_range(pl.len()).over("page") + 1)
        acts = self._on_shown(events.filter(pl.col("kind") == ACTION), rows, "an action")
        gains = acts.group_by(keys).agg(actions=pl.col("worth").sum())
        data = rows.select(*keys, "rank", "line", *(role for role in EXTRAS if role in rows.columns))
        for each in (counts, order, gains):
            data = data.join(each, on=keys, how="left", maintain_order="left")
        data = data.with_columns(pl.col("clicks", "click_order", "actions").fill_null(0), long=pl.lit(False))
        data = data.join(pages, on="page", how="left", maintain_order="left")
        left = ([] if self.acted else ["actions"]) + [r for r in ("user", "time") if getattr(self.form, r) is None]
        try:
            arrays = page_arrays(data.drop(left), self.bad, self.top)
        except NoPagesError:
            return None
        log = ClickLog.from_arrays(**arrays, key=self.key).replace(bad_lines=self.bad)
        if self.form.lists_queries:  # it is known what the page is
            self.bad.hint = ""
        return log

    def _pages(self, events: pl.DataFrame) -> pl.DataFrame:
        """Query, user and time of each page that was shown; other pages are counted."""
        import polars as pl

        query, kind = pl.col("query"), pl.col("kind")
        if self.form.queries:
            known = pl.col("page").replace_strict({**self.form.queries}, default=None, return_dtype=pl.String)
            events = events.with_columns(query.cast(pl.String), known=known)
        else:
            events = events.with_columns(known=pl.when(kind == QUERY).then("query"))
        own = query.filter(kind == SHOWN).drop_nulls()
        pages = events.group_by("page", maintain_order=True).agg(
            pl.coalesce(pl.col("known").drop_nulls().first(), own.first(), query.drop_nulls().first()).alias("query"),
            pl.col("known").is_null().all().and_(own.n_unique() > 1).alias("several"),
            pl.col("user").filter(kind != QUERY).drop_nulls().first(),
            pl.col("time").filter(kind != QUERY).min(),
            (kind == SHOWN).any().alias("shown"),
            (kind != QUERY).sum().alias("n"),
            pl.col("line").filter(kind != QUERY).first(),
        )
        pages = pages.filter(pl.col("n") > 0)
        checks = {
            "an event of a page without impressions": ~pl.col("shown"),
            "an event of a page without a query": pl.col("query").is_null(),
            "an event of a page with several queries": pl.col("several"),
        }
        for reason, wrong in checks.items():
            for line, page, n in pages.filter(wrong).select("line", "page", "n").rows():
                self.bad.add(reason, line, page, n)
            pages = pages.filter(~wrong)
        if reason in self.bad.counts:
            self.bad.hint = about_page(self.bad)
        return pages.select("page", "query", "user", "time")

    def _on_shown(self, events: pl.DataFrame, rows: pl.DataFrame, what: str) -> pl.DataFrame:
        """Those events whose document the page shows; others are noted."""
        keys = ["page", "document"]
        lost = events.join(rows, on=keys, how="anti", maintain_order="left")
        self.bad.note_all(f"{what} on a document that was not logged as shown", _to_show(lost))
        return events.join(rows, on=keys, how="semi", maintain_order="left")


def _count(path: Any) -> int:
    """Number of rows or lines of a file."""
    import polars as pl

    from plackett.data.file_bytes import bare_suffix

    if bare_suffix(path) == ".parquet":
        try:
            with named_damage(path):
                return int(pl.scan_parquet(os.fspath(path)).select(pl.len()).collect().item())
        except pl.exceptions.PolarsError as error:
            raise damaged(path, error, None) from None
    return sum(1 for _ in lines(path))


def _to_show(rows: pl.DataFrame) -> pl.DataFrame:
    """Line of each row, and what to show of it."""
    import polars as pl

    page, document = (pl.col(name).cast(pl.String).fill_null("none") for name in ("page", "document"))
    # not pl.format, which panics in polars 2.1 if some chunks of the rows are empty, as they are in files read in parts
    shown = pl.concat_str(pl.lit("page "), page, pl.lit(", document "), document)
    return rows.select("line", shown.str.replace_all("\x1f", ","))


def _ids(column: pl.Series) -> pl.Series:
    """Ids as whole numbers or texts; empty texts are missing."""
    import polars as pl

    if column.dtype.is_integer():
        return column.cast(pl.Int64)
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        return whole.set((whole != column).fill_null(True), None)
    texts = column.cast(pl.String)
    return texts.set((texts == "").fill_null(False), None)


def _number(column: pl.Series) -> pl.Series:
    """Numbers, also those written as texts; null for others."""
    import polars as pl

    texts = column.str.strip_chars() if column.dtype == pl.String else column
    return texts.cast(pl.Float64, strict=False)
