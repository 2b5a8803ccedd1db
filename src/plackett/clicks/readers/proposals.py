"""What the columns of a log of events may mean: proposed to the user, who decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from shlex import quote
from types import MappingProxyType
from typing import Any

from plackett._names.nearest import plain
from plackett.clicks.readers.objects import flat
from plackett.clicks.readers.roles import COLUMNS, SESSIONS

#: Usual names of the field with the kind of an event.
ACTION_NAMES = (
    *("action", "event_type", "event_name", "action_name", "event", "type", "interaction", "interaction_type"),
    *("activity", "activity_type", "kind", "verb"),
)
#: Usual names of fields, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "page": ("query_id", *COLUMNS["page"], "ga_session_id", "domain_sessionid"),
    "query": ("user_query", *(name for name in COLUMNS["query"] if name not in ("query_id", "qid")), "search", "q"),
    "document": (*COLUMNS["document"], "object_id", "content_id"),
    "rank": (*COLUMNS["rank"], "index", "item_list_index"),
    "action": ACTION_NAMES,
    "time": (*COLUMNS["time"], "event_timestamp", "collector_tstamp", "derived_tstamp", "received_at", "sent_at"),
    "user": (*COLUMNS["user"], "user_pseudo_id", "anonymous_id", "domain_userid"),
    "value": ("value", "revenue", "price", "amount"),
    "event": ("event_id", "message_id", "insert_id"),
}
#: Parts of the words for kinds of events. An action is looked for first, an impression last: "view_cart" is an action.
WORDS = {
    "actions": ("purchas", "order", "cart", "basket", "buy", "bought", "checkout", "conversion", "sale"),
    "click": ("click", "select"),
    "shown": ("impress", "shown", "show", "display", "view", "seen", "expos"),
}
EMPTY: Mapping[str, Any] = MappingProxyType({})
#: Events that are looked at, values of a field that are kinds at most, and values and fields that are shown.
SAMPLE, KINDS, SHOWN_VALUES, SHOWN_FIELDS = 50_000, 50, 3, 40


def propose(
    events: Iterable[Mapping[str, Any]], source: str, given: Mapping[str, Any] = EMPTY, *, sure: bool = True
) -> str:
    """Say what the fields of these events are, and the option and call that would read them so.

    ``given`` is what the user has said. Empty if nothing looks like events, unless it is ``sure`` that they are.
    """
    values: dict[str, dict[str, int]] = {}
    sample = [flat(event) for event in islice(events, SAMPLE)]
    for event in sample:
        for path, value in event.items():
            counts = values.setdefault(path, {})
            if value is not None and (len(counts) <= KINDS or str(value) in counts):
                counts[str(value)] = counts.get(str(value), 0) + 1
    column_of = _columns(values) | {role: name for role, name in given.items() if isinstance(name, str)}
    kinds = values.get(column_of.get("action", ""), {})
    if not values or not (sure or any(kinds_of(kinds).values())):
        return ""
    lines = ["a row per event (impression, click, …)? Say what its fields mean; they are:"]
    for path, counts in [*values.items()][:SHOWN_FIELDS]:
        most = " …" if len(counts) > SHOWN_VALUES else ""
        lines.append(f"  {path}: {', '.join(f'{each[:40]!r}' for each in [*counts][:SHOWN_VALUES])}{most}")
    if len(values) > SHOWN_FIELDS:
        lines.append(f"  … and {len(values) - SHOWN_FIELDS} more")
    if kinds:
        where = f" in the first {SAMPLE:,} events" if len(sample) == SAMPLE else ""
        lines.append(f"{column_of['action']} has the values {shown_kinds(kinds)}{where}")
    options = {role: ",".join(found) for role, found in kinds_of(kinds).items() if found}
    options = column_of | {role: text for role, text in options.items() if role not in given}
    if len(options.get("page", "").split(",")) > 1:
        lines.append("a session may have several pages: the session and the query together tell them apart")
    if not {"rank", "rank_by"} & {*column_of}:
        options = {role: name for role, name in options.items() if role != "rank"} | {"rank_by": "time"}
        lines.append("nothing looks like a rank; rank_by=time takes the order in which the documents were shown")
    options = dict.fromkeys(("page", "query", "document", "action", "shown", "click"), "?") | options
    words = " ".join(f"-c {quote(f'{role}={name}')}" for role, name in options.items())
    call = ", ".join(f"{role}={name!r}" for role, name in options.items())
    lines += [
        "if these guesses are right (? is for you to fill in), read it by one of",
        f"  plackett clicks info {quote(source)} --format events {words}",
        f"  read_clicks({'frame' if source == 'the table' else repr(source)}, 'events', {call})",
    ]
    return "\n".join(lines)


def _columns(values: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """The likeliest field for each role."""
    found = {role: name for role, usual in NAMES.items() if (name := next(_matching(values, usual), None))}
    page = found.get("page", "")
    if plain(page.rpartition(".")[2]) in map(plain, (*SESSIONS, "ga_session_id", "domain_sessionid")):
        found["page"] = f"{page},{found['query']}" if "query" in found else page
    for path, counts in values.items():  # a name that is not usual, but values that are
        if (
            "action" not in found
            and len(counts) <= KINDS
            and all(kinds_of(counts)[kind] for kind in ("shown", "click"))
        ):
            found["action"] = path
    return found


def _matching(paths: Iterable[str], usual: Iterable[str]) -> Iterator[str]:
    """The paths whose whole name, or else last step, is one of the usual names."""
    known = [*paths]
    for whole in (True, False):
        for name in usual:
            yield from (path for path in known if plain(path if whole else path.rpartition(".")[2]) == plain(name))


def kinds_of(kinds: Iterable[str]) -> dict[str, list[str]]:
    """Which of these kinds of events are impressions, clicks and other actions, by their words.

    >>> kinds_of(["view_item_list", "select_item", "add_to_cart", "scroll"])
    {'shown': ['view_item_list'], 'click': ['select_item'], 'actions': ['add_to_cart']}
    """
    found: dict[str, list[str]] = {"shown": [], "click": [], "actions": []}
    for kind in kinds:
        role = next((role for role, words in WORDS.items() if any(word in plain(kind) for word in words)), None)
        if role is not None:
            found[role].append(kind)
    return found


def shown_kinds(kinds: Mapping[str, int], limit: int = 12) -> str:
    """Kinds of events with their numbers, the most frequent first."""
    most = sorted(kinds.items(), key=lambda pair: -pair[1])
    rest = f", and {len(most) - limit} more" if len(most) > limit else ""
    return ", ".join(f"{kind!r} ({n:,})" for kind, n in most[:limit]) + rest
