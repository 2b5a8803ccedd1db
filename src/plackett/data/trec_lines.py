"""Read lines of whitespace-separated fields, the form of every TREC file, as columns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.file_bytes import read_bytes
from plackett.data.frame_columns import missing_ids

if TYPE_CHECKING:
    import polars as pl

#: Bytes that are parsed at once.
_BLOCK = 1 << 25


def read_lines(
    path: str | os.PathLike[str],
    layout: str,
    columns: dict[str, int],
    key: tuple[str, ...],
    *,
    more: bool = False,
    otherwise: str = "",
) -> pl.DataFrame:
    """Columns of a TREC file; the last one holds numbers, the others text.

    Blank lines and lines that begin with ``#`` are skipped, as trec_eval does.

    Parameters
    ----------
    layout
        The fields of a line in words, for error messages.
    columns
        Name and number of the fields wanted, in the order of the line.
    key
        Columns that together must not repeat.
    more
        Whether further fields may follow the last one wanted.
    otherwise
        What to do if the file has other fields: the end of an error message.
    """
    import polars as pl

    raw = read_bytes(path)
    wanted = np.zeros(max(columns.values()) + 1, np.bool_)
    wanted[list(columns.values())] = True
    *ids, value = columns
    schema: dict[str, Any] = {**dict.fromkeys(ids, pl.String), value: pl.Float64}
    blocks = [pl.DataFrame(schema=schema)]
    tidy = np.empty(min(_BLOCK, raw.size) + 1, np.uint8)
    rows = start = 0
    while start < raw.size:
        stop = _block_end(raw, start)
        if stop - start >= tidy.size:
            tidy = np.empty(stop - start + 1, np.uint8)
        size, good_rows, fields = _tidy(raw[start:stop], start == 0, wanted, more, tidy)
        rows += good_rows
        if fields:
            line, content = _line(raw, rows)
            advice = otherwise if line > 1 else _advice(layout, content) or otherwise
            raise DataError(f"{path}, line {line}: expected {layout!r}, found {fields} fields: {content!r}{advice}")
        if size:
            blocks.append(_parse(path, tidy[:size].tobytes(), schema, value))
        start = stop
    frame = pl.concat(blocks)
    wrong = frame[value].is_null() | frame[value].is_nan()
    if wrong.any():
        line, content = _line(raw, wrong.arg_max() or 0)
        raise DataError(f"{path}, line {line}: the {value} is not a number in {content!r}")
    for name in ids:
        absent = missing_ids(frame[name])
        if absent.any():
            line, content = _line(raw, absent.arg_max() or 0)
            raise DataError(f"{path}, line {line}: the {name} is missing in {content!r}")
    refuse_repeats(frame, key, lambda row: f"{path}, line {_line(raw, row)[0]}", otherwise)
    return frame


def trec_kind(line: str) -> str | None:
    """What a line of a TREC file seems to be: ``"judgements"``, ``"run"``, or None for neither.

    >>> trec_kind("301 0 FT-1 1"), trec_kind("301 Q0 FT-1 1 2.5 bm25"), trec_kind("2 qid:1 1:0.5 2:0")
    ('judgements', 'run', None)
    """
    fields = line.split()
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?").fullmatch
    if len(fields) == 4 and number(fields[3]) and ":" not in fields[1]:
        return "judgements"
    if len(fields) in (5, 6) and fields[1].upper() == "Q0" and number(fields[4]):
        return "run"
    return None


def _advice(layout: str, line: str) -> str:
    """A hint if the file is of the other kind."""
    kind = trec_kind(line)
    wanted = "run" if layout.startswith("query Q0") else "judgements"
    if kind is None or kind == wanted:
        return ""
    what = "a run" if kind == "run" else "judgements"
    return f"; this looks like {what}: were judgements and run swapped?"


def _block_end(raw: np.ndarray, start: int) -> int:
    """End of the block that begins at ``start``: after a line."""
    stop = start + _BLOCK
    while stop < raw.size:
        newlines = np.flatnonzero(raw[stop : stop + 4096] == 10)
        if newlines.size:
            return stop + int(newlines[0]) + 1
        stop += 4096
    return raw.size


def _parse(path: Any, text: bytes, schema: dict[str, Any], value: str) -> pl.DataFrame:
    """Columns of tidy text; a value that is not a number becomes null."""
    import polars as pl

    def read(schema: dict[str, Any]) -> pl.DataFrame:
        return pl.read_csv(text, separator="\t", has_header=False, quote_char=None, schema=schema)

    try:
        return read(schema)
    except pl.exceptions.ComputeError:
        try:
            frame = read({**schema, value: pl.String})
        except pl.exceptions.ComputeError as error:
            raise DataError(f"{path}: not a text file in UTF-8 ({error})") from None
    return frame.with_columns(pl.col(value).str.strip_prefix("+").cast(pl.Float64, strict=False))


def refuse_repeats(
    frame: pl.DataFrame, key: tuple[str, ...], locate: Callable[[int], str], otherwise: str = ""
) -> None:
    """Reject a table in which a key occurs twice; ``locate(row)`` says where a row comes from."""
    import polars as pl

    # one number per row is compared first: equal rows have equal hashes, and different ones nearly never
    hashes = frame.select(pl.struct(key).hash()).to_series()
    if hashes.n_unique() == frame.height:
        return
    repeated = frame.select(~pl.struct(key).is_first_distinct()).to_series()
    if repeated.any():
        row = repeated.arg_max() or 0
        key_text = ", ".join(f"{name} {frame[name][row]!r}" for name in key)
        raise DataError(f"{locate(row)}: {key_text} occurs a second time{otherwise}")


def _line(raw: np.ndarray, row: int) -> tuple[int, str]:
    """Number and text of the line that row ``row`` came from; only for error messages."""
    rows = -1
    for number, line in enumerate(raw.tobytes().split(b"\n"), 1):
        rows += bool(line.split()) and not line.startswith(b"#")
        if rows == row:
            return number, line.decode("utf-8", "replace").strip()[:200]
    raise IndexError(row)


@kernel
def _tidy(raw, begin, wanted, more, out):
    """Copy the wanted fields of each line, separated by tabs.

    Bytes written, good rows, and the number of fields of the bad row after them, 0 where all are good.
    """
    n = raw.size
    i = 0
    if begin and n >= 3 and raw[0] == 0xEF and raw[1] == 0xBB and raw[2] == 0xBF:  # byte order mark
        i = 3
    size = 0
    rows = 0
    while i < n:
        if raw[i] == 35:  # '#'
            while i < n and raw[i] != 10:
                i += 1
            i += 1
            continue
        field = 0
        while True:
            while i < n and raw[i] != 10 and (raw[i] == 32 or 9 <= raw[i] <= 13):
                i += 1
            if i >= n or raw[i] == 10:
                break
            keep = field < wanted.size and wanted[field]
            while i < n and not (raw[i] == 32 or 9 <= raw[i] <= 13):
                if keep:
                    out[size] = raw[i]
                    size += 1
                i += 1
            if keep:
                out[size] = 9
                size += 1
            field += 1
        i += 1
        if field == 0:
            continue
        if field < wanted.size or (field > wanted.size and not more):
            return size, rows, field
        out[size - 1] = 10
        rows += 1
    return size, rows, 0
