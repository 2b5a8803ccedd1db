"""Tables of clicks as JSON lines: an object per row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.lines import lines
from plackett.clicks.readers.table_format import LINE, TableFormat, first_line_of

if TYPE_CHECKING:
    import polars as pl


def _whole(path: Any, bad: BadLines, separator: str | None) -> pl.DataFrame:
    frame = next(_batches(path, bad, separator), None)
    if frame is None:
        raise DataError(f"{path}: no JSON objects; {bad}")
    return frame


def _batches(path: Any, bad: BadLines, separator: str | None, n_rows: int | None = None) -> Iterator[pl.DataFrame]:
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, text in lines(path):
        if not text.strip():
            continue
        bad.total += 1
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            bad.add("not a JSON object", number, text)
            continue
        rows.append(row)
        numbers.append(number)
        if n_rows is not None and len(rows) >= n_rows:
            yield _frame_of(rows, numbers)
            rows, numbers = [], []
    if rows:
        yield _frame_of(rows, numbers)


def _frame_of(rows: list[dict[str, Any]], numbers: list[int]) -> pl.DataFrame:
    import polars as pl

    names = dict.fromkeys(name for row in rows for name in row)
    table = {name: pl.Series(name, [row.get(name) for row in rows], strict=False) for name in names}
    return pl.DataFrame(table).with_columns(pl.Series(LINE, numbers))


JSON_LINES = TableFormat((".jsonl", ".ndjson", ".json"), _whole, _batches, first_line_of)
