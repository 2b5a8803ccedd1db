"""Event logs: one JSON object per impression, click or other action, as Elasticsearch and OpenSearch store them."""

from __future__ import annotations

import json
import math
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import MAX_RANK, ClickLog
from plackett.clicks.readers._pages import lines
from plackett.clicks.readers.columns import MILLISECONDS
from plackett.data.grouping import is_missing

__all__ = ["iter_events", "iter_ubi", "read_events", "read_ubi"]

#: Weights of what shops log beyond clicks.
ACTIONS = {"add_to_cart": 1.0, "purchase": 5.0}


#: Where the id of an exported document is kept; the index may have the same event twice, under one id.
ENVELOPE = "_id"


class _Page:
    __slots__ = ("actions", "clicks", "events", "line", "order", "query", "shown", "time", "user")

    def __init__(self, line: int) -> None:
        self.line = line
        self.query: Any = None
        self.user: Any = ""
        self.time = math.nan
        self.shown: dict[str, int] = {}
        self.clicks: list[tuple[float, int, str]] = []
        self.actions: list[tuple[str, float, int]] = []
        self.events: set[Any] = set()


@fulfils()
def read_events(
    path: str | os.PathLike[str],
    *,
    page: str,
    query: str,
    document: str,
    rank: str,
    action: str,
    shown: str = "impression",
    click: str = "click",
    actions: Mapping[str, float] | None = None,
    time: str | None = None,
    user: str | None = None,
    where: Mapping[str, Any] | None = None,
    event: str | None = None,
    first_rank: int | None = None,
    key: bytes | str | None = None,
    queries: Mapping[str, Any] | None = None,
) -> ClickLog:
    r"""Read a log of events, one JSON object per line.

    Objects may be wrapped in ``_source`` (exports of an index), and lines of a bulk request (``{"index": …}``) are
    passed over. Fields are named by paths such as ``event_attributes.object.object_id``.

    Parameters
    ----------
    page
        Field that impressions and clicks of one result page share.
    query
        Field with the query.
    document, rank
        Fields with the document and its rank.
    action, shown, click
        Field with the kind of the event, and its values for an impression and a click.
    actions
        Other values that count, with their weights: ``{"purchase": 5}``.
    time, user
        Fields with the time (ISO 8601, or seconds or milliseconds since 1970) and the user.
    where
        Fields and the value that each must have, such as ``{"application": "shop"}``.
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
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "events.ndjson"
    >>> event = '{"page": "p1", "q": "shoe", "doc": "%s", "pos": %d, "type": "%s"}\n'
    >>> _ = path.write_text(event % ("a", 0, "impression") + event % ("b", 1, "impression") + event % ("b", 1, "click"))
    >>> read_events(path, page="page", query="q", document="doc", rank="pos", action="type").clicks.tolist()
    [0, 1]
    """
    form = _Form(page, query, document, rank, action, shown, click, actions, time, user, where, event)
    bad = BadLines(os.fspath(path))
    log = _log(_collect(lines(path), form, queries or {}, bad), form, bad, first_rank, key)
    if log is None:
        raise DataError(f"{path}: no complete result pages (impressions with page, query, document and rank); {bad}")
    return log


@dataclass(frozen=True)
class _Form:
    """Which fields of an event mean what; see `read_events`."""

    page: str
    query: str
    document: str
    rank: str
    action: str
    shown: str = "impression"
    click: str = "click"
    actions: Mapping[str, float] | None = None
    time: str | None = None
    user: str | None = None
    where: Mapping[str, Any] | None = None
    event: str | None = None

    def selects(self, event: dict[str, Any]) -> bool:
        """Whether the fields of the event have the values that they must have."""
        return all(_field(event, name) == value for name, value in (self.where or {}).items())


def _collect(
    numbered: Iterable[tuple[int, str]], form: _Form, queries: Mapping[str, Any], bad: BadLines
) -> dict[str, _Page]:
    """Events by page."""
    actions = form.actions or {}
    kept = {form.shown, form.click, *actions}
    pages: dict[str, _Page] = {}
    for number, text in numbered:
        if not text.strip():
            continue
        bad.total += 1
        event = _object(text, number, bad)
        if event is None or not form.selects(event):
            continue
        kind = _field(event, form.action)
        if not _usable(kind) or kind not in kept:
            continue
        name, item = _field(event, form.page), _field(event, form.document)
        if not _usable(name) or not _usable(item):
            bad.add(f"no {form.page if not _usable(name) else form.document}", number, text)
            continue
        group = pages.setdefault(str(name), _Page(number))
        own = _field(event, form.event) if form.event else None
        own = event.get(ENVELOPE) if own is None else own
        if _usable(own):
            if own in group.events:
                bad.add("an event whose id was seen before", number, text)
                continue
            group.events.add(own)
        moment = _seconds(_field(event, form.time)) if form.time else math.nan
        text_of_query = queries.get(str(name)) or _field(event, form.query)
        if group.query is None and _usable(text_of_query):
            group.query = str(text_of_query)
        if form.user and not group.user:
            user = _field(event, form.user)
            group.user = "" if is_missing(user) else user
        if math.isnan(group.time) or moment < group.time:
            group.time = moment
        item = str(item)
        if kind == form.shown:
            rank = _field(event, form.rank)
            if not _is_rank(rank):
                bad.add(f"{form.rank} is not a whole number up to {MAX_RANK}", number, text)
            elif group.shown.setdefault(item, int(rank)) != int(rank):
                bad.note("a document is shown twice on one page; the first rank counts", number, text)
        elif kind == form.click:
            group.clicks.append((moment, number, item))
        else:
            group.actions.append((item, actions[kind], number))
    return pages


@fulfils()
def read_ubi(
    path: str | os.PathLike[str],
    queries: str | os.PathLike[str] | None = None,
    *,
    application: str | None = None,
    actions: Mapping[str, float] | None = None,
    first_rank: int | None = None,
    key: bytes | str | None = None,
) -> ClickLog:
    """Read OpenSearch's User Behavior Insights: events of the index ``ubi_events``, queries of ``ubi_queries``.

    A page is a ``query_id``. Its query is ``user_query`` of the query's row or, where that row is missing, of the
    event. Applications number ranks from 0 or from 1: read one at a time.

    Parameters
    ----------
    path
        Events, one JSON object per line, or both indices in one file.
    queries
        File of ``ubi_queries``, if it is another one.
    application
        Which application to read; a file with several needs it.
    actions
        Weights of other events; by default 1 for ``add_to_cart`` and 5 for ``purchase``.
    """
    texts: dict[str, Any] = {}
    applications: set[Any] = set()
    for source in dict.fromkeys((path, path if queries is None else queries)):
        for number, text in lines(source):
            event = _object(text, number, BadLines("")) if text.strip() else None
            if event is None:
                continue
            if "action_name" not in event and _usable(event.get("user_query")):
                texts.setdefault(str(event.get("query_id")), event["user_query"])
            elif event.get("action_name") == "impression":
                applications.add(event.get("application"))
    _one_application(path, applications, application)
    bad, form = BadLines(os.fspath(path)), _ubi_form(application, actions)
    log = _log(_collect(lines(path), form, texts, bad), form, bad, first_rank, key)
    if log is None:
        raise DataError(f"{path}: no complete result pages (impressions with query_id, document and rank); {bad}")
    return log


def _ubi_form(application: str | None, actions: Mapping[str, float] | None) -> _Form:
    return _Form(
        page="query_id",
        query="user_query",
        document="event_attributes.object.object_id",
        rank="event_attributes.position.ordinal",
        action="action_name",
        actions=ACTIONS if actions is None else actions,
        time="timestamp",
        user="client_id",
        where=None if application is None else {"application": application},
    )


def _one_application(path: Any, applications: set[Any], application: str | None) -> None:
    if application is None and len(applications) > 1:
        names = ", ".join(sorted(map(str, applications)))
        raise DataError(
            f"{path}: impressions of several applications ({names}), which may number ranks differently; "
            "choose one with application=… (on the command line --application)"
        )


#: Most files that events are sorted into, while a log larger than memory is read.
MOST_FILES = 256


def iter_ubi(
    path: str | os.PathLike[str],
    n_rows: int,
    queries: str | os.PathLike[str] | None = None,
    *,
    application: str | None = None,
    actions: Mapping[str, float] | None = None,
    first_rank: int | None = None,
    key: bytes | str | None = None,
) -> Iterator[ClickLog]:
    """Read User Behavior Insights in parts of about ``n_rows`` events; see `read_ubi`."""
    form = _ubi_form(application, actions)
    sources = list(dict.fromkeys((path, path if queries is None else queries)))
    return _parts(path, sources, form, n_rows, {}, application, first_rank, key)


def iter_events(
    path: str | os.PathLike[str],
    n_rows: int,
    *,
    first_rank: int | None = None,
    key: bytes | str | None = None,
    queries: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Iterator[ClickLog]:
    """Read a log of events in parts of about ``n_rows`` events; for the fields see `read_events`."""
    return _parts(path, [path], _Form(**fields), n_rows, queries or {}, "", first_rank, key)


def _parts(
    path: Any,
    sources: list[Any],
    form: _Form,
    n_rows: int,
    queries: Mapping[str, Any],
    application: str | None,
    first_rank: int | None,
    key: bytes | str | None,
) -> Iterator[ClickLog]:
    """Events of a page may be far apart: they are sorted by page into temporary files, one per part."""
    applications: set[Any] = set()
    lowest = MAX_RANK
    n_files = min(max(1, -(-sum(1 for source in sources for _ in lines(source)) // n_rows)), MOST_FILES)
    with tempfile.TemporaryDirectory(prefix="plackett-clicks-") as folder:
        with ExitStack() as stack:
            files = [
                stack.enter_context(open(os.path.join(folder, str(i)), "w", encoding="utf-8")) for i in range(n_files)
            ]
            for source in sources:
                for number, text in lines(source):
                    event = _object(text, number, BadLines("")) if text.strip() else None
                    if event is not None and _field(event, form.action) == form.shown:
                        applications.add(event.get("application"))
                        if form.selects(event):
                            rank = _field(event, form.rank)
                            lowest = min(lowest, int(rank)) if _is_rank(rank) else lowest
                    name = None if event is None else _field(event, form.page)
                    part = zlib.crc32(str(name).encode("utf-8", "replace")) % n_files
                    kind = "e" if source == path else "q"
                    files[part].write(f"{kind}{number}\t{text.replace(chr(13), ' ')}\n")
        _one_application(path, applications, application)
        top = min(max(lowest, 0), 1) if first_rank is None else first_rank
        for part in range(n_files):
            log = _sorted_part(os.path.join(folder, str(part)), path, form, queries, top, key)
            if log is not None:
                yield log


def _sorted_part(
    file: str, path: Any, form: _Form, queries: Mapping[str, Any], first_rank: int, key: bytes | str | None
) -> ClickLog | None:
    """The pages of one temporary file, with the line numbers of the log."""
    texts: dict[str, Any] = dict(queries)
    events: list[tuple[int, str]] = []
    for _, line in lines(file):
        head, _, text = line.partition("\t")
        if head.startswith("e"):
            events.append((int(head[1:]), text))
        event = _object(text, 0, BadLines("")) if text.strip() else None
        if event is not None and form.action not in event and _usable(event.get(form.query)):
            texts.setdefault(str(_field(event, form.page)), event[form.query])
    bad = BadLines(os.fspath(path))
    return _log(_collect(events, form, texts, bad), form, bad, first_rank, key)


def _log(
    pages: dict[str, _Page], form: _Form, bad: BadLines, first_rank: int | None, key: bytes | str | None
) -> ClickLog | None:
    """The log of the pages, or None if no page is complete."""
    ranks_as_logged = [rank for page in pages.values() for rank in page.shown.values()]
    base = min(ranks_as_logged, default=1) if first_rank is None else first_rank
    if base not in (0, 1):
        bad.note(f"ranks begin at {base}; they are taken to count from {min(base, 1)}", 0, "")
        base = min(max(base, 0), 1)
    columns: dict[str, list[Any]] = {n: [] for n in ("query", "documents", "lengths", "clicks", "order", "ranks")}
    columns |= {"actions": [], "users": [], "times": []}
    for name, page in pages.items():
        ranked = sorted(page.shown.items(), key=lambda pair: pair[1])
        ranks = [rank - base + 1 for _, rank in ranked]
        if not ranked:
            bad.add("a page with clicks and no impressions", page.line, name)
            continue
        if page.query is None:
            bad.add("a page without a query", page.line, name)
            continue
        if len(set(ranks)) < len(ranks) or ranks[0] < 1:
            bad.add("a page with two documents at one rank, or a rank above the top", page.line, name)
            continue
        index = {document: i for i, (document, _) in enumerate(ranked)}
        counts, order, extra = [0] * len(ranked), [0] * len(ranked), [0.0] * len(ranked)
        for _, line, item in sorted(page.clicks, key=lambda c: (math.isnan(c[0]), c[0], c[1])):
            if item not in index:
                bad.note("a click on a document that was not logged as shown", line, item)
                continue
            counts[index[item]] += 1
            order[index[item]] = order[index[item]] or max(order) + 1
        for item, weight, line in page.actions:
            if item not in index:
                bad.note("an action on a document that was not logged as shown", line, item)
            else:
                extra[index[item]] += weight
        columns["query"].append(page.query)
        columns["documents"] += [document for document, _ in ranked]
        columns["lengths"].append(len(ranked))
        columns["clicks"] += counts
        columns["order"] += order
        columns["ranks"] += ranks
        columns["actions"] += extra
        columns["users"].append(str(page.user))
        columns["times"].append(page.time)
    if not columns["query"]:
        return None
    gaps = np.asarray(columns["ranks"]) != np.concatenate([np.arange(1, n + 1) for n in columns["lengths"]])
    return ClickLog.from_arrays(
        columns["query"],
        columns["documents"],
        columns["clicks"],
        lengths=columns["lengths"],
        click_order=columns["order"],
        ranks=columns["ranks"] if gaps.any() else None,
        actions=columns["actions"] if any(columns["actions"]) else None,
        users=columns["users"] if form.user else None,
        times=columns["times"] if form.time else None,
        key=key,
    ).replace(bad_lines=bad)


def _object(text: str, number: int, bad: BadLines) -> dict[str, Any] | None:
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        bad.add("not JSON", number, text)
        return None
    if not isinstance(event, dict):
        bad.add("not a JSON object", number, text)
        return None
    if isinstance(event.get("_source"), dict):
        return event["_source"] | {ENVELOPE: event.get("_id")}
    if len(event) == 1 and next(iter(event)) in ("index", "create", "update", "delete"):
        return None  # a line of a bulk request
    return event


def _field(event: dict[str, Any], path: str | None) -> Any:
    if path is None:
        return None
    if path in event:
        return event[path]
    value: Any = event
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _is_rank(value: Any) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= MAX_RANK and value == int(value)


def _usable(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value) / 1000 if abs(value) > MILLISECONDS else float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return math.nan
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return math.nan
