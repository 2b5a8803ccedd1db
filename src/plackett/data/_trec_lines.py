"""Lines of fields between white space, the form of every TREC file, as columns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel
from plackett.data._bytes import read_bytes

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_lines", "refuse_repeats"]


def read_lines(
    path: str | os.PathLike[str], layout: str, columns: dict[str, int], key: tuple[str, ...], *, more: bool = False
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
    """
    import polars as pl

    raw = read_bytes(path)
    wanted = np.zeros(max(columns.values()) + 1, np.bool_)
    wanted[list(columns.values())] = True
    tidy = np.empty(raw.size + 1, np.uint8)
    size, bad_row, found = _tidy(raw, wanted, more, tidy)
    if bad_row >= 0:
        line, content = _line(raw, bad_row)
        raise DataError(f"{path}, line {line}: expected {layout!r}, found {found} fields: {content!r}")
    *ids, value = columns
    text = tidy[:size].tobytes()
    del tidy

    def parse(dtype: type[pl.DataType]) -> pl.DataFrame:
        schema: dict[str, Any] = {**dict.fromkeys(ids, pl.String), value: dtype}
        if not size:
            return pl.DataFrame(schema=schema)
        return pl.read_csv(text, separator="\t", has_header=False, quote_char=None, schema=schema)

    try:
        frame = parse(pl.Float64)
    except pl.exceptions.ComputeError as error:
        try:
            values = parse(pl.String)[value]
        except pl.exceptions.ComputeError:
            raise DataError(f"{path}: not a text file in UTF-8 ({error})") from None
        frame = pl.DataFrame({value: values.str.strip_prefix("+").cast(pl.Float64, strict=False)})
    wrong = frame[value].is_null() | frame[value].is_nan()
    if wrong.any():
        line, content = _line(raw, wrong.arg_max() or 0)
        raise DataError(f"{path}, line {line}: the {value} is not a number in {content!r}")
    if frame.width < len(columns):  # only the numbers needed help
        frame = parse(pl.String).with_columns(frame[value])
    refuse_repeats(frame, key, lambda row: f"{path}, line {_line(raw, row)[0]}")
    return frame


def refuse_repeats(frame: pl.DataFrame, key: tuple[str, ...], place: Callable[[int], str]) -> None:
    """Refuse a table in which a key occurs twice; ``place(row)`` says where a row comes from."""
    import polars as pl

    # one number per row is compared first: equal rows have equal hashes, and different ones nearly never
    hashes = frame.select(pl.struct(key).hash()).to_series()
    if hashes.n_unique() == frame.height:
        return
    again = frame.select(~pl.struct(key).is_first_distinct()).to_series()
    if again.any():
        row = again.arg_max() or 0
        words = ", ".join(f"{name} {frame[name][row]!r}" for name in key)
        raise DataError(f"{place(row)}: {words} occurs a second time")


def _line(raw: np.ndarray, row: int) -> tuple[int, str]:
    """Number and text of the line that row ``row`` came from; only for error messages."""
    rows = -1
    for number, line in enumerate(raw.tobytes().split(b"\n"), 1):
        rows += bool(line.split()) and not line.startswith(b"#")
        if rows == row:
            return number, line.decode("utf-8", "replace").strip()[:200]
    raise IndexError(row)


@kernel
def _tidy(raw, wanted, more, out):  # type: ignore[no-untyped-def]
    """Copy the wanted fields of each line, separated by tabs; bytes written, first bad row or -1, its fields."""
    n = raw.size
    i = 0
    if n >= 3 and raw[0] == 0xEF and raw[1] == 0xBB and raw[2] == 0xBF:  # byte order mark
        i = 3
    size = 0
    row = 0
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
            if field < wanted.size and wanted[field]:
                while i < n and not (raw[i] == 32 or 9 <= raw[i] <= 13):
                    out[size] = raw[i]
                    size += 1
                    i += 1
                out[size] = 9
                size += 1
            else:
                while i < n and not (raw[i] == 32 or 9 <= raw[i] <= 13):
                    i += 1
            field += 1
        i += 1
        if field == 0:
            continue
        if field < wanted.size or (field > wanted.size and not more):
            return size, row, field
        out[size - 1] = 10
        row += 1
    return size, -1, 0
