"""Event logs: one JSON object per impression, click or other action, as Elasticsearch and OpenSearch store them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import ClickLog
from plackett.clicks.readers._pages import lines

__all__ = ["read_events", "read_ubi"]

#: Weights of what shops log beyond clicks.
ACTIONS = {"add_to_cart": 1.0, "purchase": 5.0}


class _Page:
    __slots__ = ("actions", "clicks", "line", "order", "query", "shown", "time", "user")

    def __init__(self, line: int) -> None:
        self.line = line
        self.query: Any = None
        self.user: Any = ""
        self.time = math.nan
        self.shown: dict[str, int] = {}
        self.clicks: list[tuple[float, int, str]] = []
        self.actions: list[tuple[str, float, int]] = []


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
    bad = BadLines(os.fspath(path))
    weights = dict(actions or {})
    kept = {shown, click, *weights}
    found: dict[str, _Page] = {}
    for number, text in lines(path):
        if not text.strip():
            continue
        bad.total += 1
        event = _object(text, number, bad)
        if event is None or any(_field(event, name) != value for name, value in (where or {}).items()):
            continue
        kind = _field(event, action)
        if kind not in kept:
            continue
        name, item = _field(event, page), _field(event, document)
        if not _usable(name) or not _usable(item):
            bad.add(f"no {page if not _usable(name) else document}", number, text)
            continue
        group = found.setdefault(str(name), _Page(number))
        moment = _seconds(_field(event, time)) if time else math.nan
        text_of_query = (queries or {}).get(str(name)) or _field(event, query)
        if group.query is None and _usable(text_of_query):
            group.query = str(text_of_query)
        if user and not group.user:
            group.user = _field(event, user) or ""
        if math.isnan(group.time) or moment < group.time:
            group.time = moment
        item = str(item)
        if kind == shown:
            place = _field(event, rank)
            if not isinstance(place, (int, float)) or isinstance(place, bool) or place != int(place):
                bad.add(f"{rank} is not a whole number", number, text)
            elif group.shown.setdefault(item, int(place)) != int(place):
                bad.note("a document is shown twice on one page; the first rank counts", number, text)
        elif kind == click:
            group.clicks.append((moment, number, item))
        else:
            group.actions.append((item, weights[kind], number))
    return _log(found, bad, first_rank, key, has_users=user is not None, has_times=time is not None, path=path)


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
    if application is None and len(applications) > 1:
        names = ", ".join(sorted(map(str, applications)))
        raise DataError(
            f"{path}: impressions of several applications ({names}), which may number ranks differently; "
            "choose one with application=…"
        )
    return read_events(
        path,
        page="query_id",
        query="user_query",
        document="event_attributes.object.object_id",
        rank="event_attributes.position.ordinal",
        action="action_name",
        actions=ACTIONS if actions is None else actions,
        time="timestamp",
        user="client_id",
        where=None if application is None else {"application": application},
        first_rank=first_rank,
        key=key,
        queries=texts,
    )


def _log(
    found: dict[str, _Page],
    bad: BadLines,
    first_rank: int | None,
    key: bytes | str | None,
    *,
    has_users: bool,
    has_times: bool,
    path: Any,
) -> ClickLog:
    places = [place for page in found.values() for place in page.shown.values()]
    if not places:
        raise DataError(f"{path}: no impressions with page, document and rank; {bad}")
    base = min(places) if first_rank is None else first_rank
    if base not in (0, 1):
        bad.note(f"ranks begin at {base}; they are taken to count from {min(base, 1)}", 0, "")
        base = min(max(base, 0), 1)
    columns: dict[str, list[Any]] = {n: [] for n in ("query", "documents", "lengths", "clicks", "order", "ranks")}
    columns |= {"actions": [], "users": [], "times": []}
    for name, page in found.items():
        ranked = sorted(page.shown.items(), key=lambda pair: pair[1])
        ranks = [place - base + 1 for _, place in ranked]
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
        raise DataError(f"{path}: no complete result pages; {bad}")
    gaps = np.asarray(columns["ranks"]) != np.concatenate([np.arange(1, n + 1) for n in columns["lengths"]])
    return ClickLog.from_arrays(
        columns["query"],
        columns["documents"],
        columns["clicks"],
        lengths=columns["lengths"],
        click_order=columns["order"],
        ranks=columns["ranks"] if gaps.any() else None,
        actions=columns["actions"] if any(columns["actions"]) else None,
        users=columns["users"] if has_users else None,
        times=columns["times"] if has_times else None,
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
        return event["_source"]
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


def _usable(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value) / 1000 if abs(value) > 1e11 else float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return math.nan
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return math.nan
