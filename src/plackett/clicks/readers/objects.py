"""Events as JSON objects, flattened to tables of texts; fields are named by paths into them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.lines import lines

if TYPE_CHECKING:
    import polars as pl

#: Where the id of an exported document is kept; the index may have the same event twice, under one id.
ENVELOPE = "_id"


def objects(path: str | os.PathLike[str], bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of the line and object of each event of a file of JSON lines."""
    for number, text in lines(path):
        if text.strip():
            bad.total += 1
            event = _object(text, number, bad)
            if event is not None:
                yield number, event


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


def table_of_objects(
    numbered: Iterable[tuple[int, dict[str, Any]]], paths: Mapping[str, str], bad: BadLines, n_rows: int
) -> Iterator[pl.DataFrame]:
    """Tables with a column of texts for each path, and the line, from about this many objects each.

    An event whose paths lead to lists, such as the items of a page, has a row per entry; the other fields repeat.
    """
    import polars as pl

    numbered, names = iter(numbered), [*paths]
    while chunk := list(islice(numbered, n_rows)):
        rows: list[list[Any]] = []
        for number, event in chunk:
            values = [_at(event, path.split("."), path) for path in paths.values()]
            sizes = {len(value) for value in values if isinstance(value, list)}
            if len(sizes) > 1:
                bad.add("lists of unequal length", number, event)
                continue
            for i in range(max(sizes, default=1) or 1):  # an empty list is a missing value
                entries = [next(iter(value[i : i + 1]), None) if isinstance(value, list) else value for value in values]
                rows.append([*map(_text, entries), number])
        schema = dict.fromkeys(names, pl.String) | {"line": pl.Int64}
        yield pl.DataFrame(rows, schema=schema, orient="row")


def _at(value: Any, steps: list[str], path: str = "") -> Any:
    """What a path leads to; a list where it passes one. Lists of keys and values are taken for an object."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for i, step in enumerate(steps):
        if isinstance(value, list):
            named = [entry for entry in value if isinstance(entry, dict) and {*entry} == {"key", "value"}]
            if not named or len(named) < len(value):
                return [_at(entry, steps[i:]) for entry in value]
            value = {entry["key"]: _only(entry["value"]) for entry in named}
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def _only(value: Any) -> Any:
    """The one value that is set among those of several types, as BigQuery stores parameters of events."""
    given = [each for each in value.values() if each is not None] if isinstance(value, dict) else []
    return given[0] if len(given) == 1 else value


def _text(value: Any) -> str | None:
    """A value as text, None where there is none."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return None if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int) or hasattr(value, "isoformat") else None


def flat(event: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """The values of an object by their paths; of lists, those of the first entry.

    >>> flat({"type": "click", "item": {"id": 7}, "params": [{"key": "query", "value": {"text": "shoe", "int": None}}]})
    {'type': 'click', 'item.id': 7, 'params.query': 'shoe'}
    """
    found: dict[str, Any] = {}
    for name, value in event.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            keyed = all({*each} == {"key", "value"} for each in value)
            value = {each["key"]: _only(each["value"]) for each in value} if keyed else value[0]
        if isinstance(value, dict):
            found |= flat(value, path)
        elif value != []:
            found[path] = value[0] if isinstance(value, list) else value
    return found
