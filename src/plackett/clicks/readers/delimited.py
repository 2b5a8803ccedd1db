"""Tables of clicks as text with separators: CSV, TSV and the like, also compressed.

All cells are read as text: a value that is not a number is then reported with its line, not silently made missing.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._files.compression import codec_of, pieces
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.lines import lines
from plackett.clicks.readers.table_format import LINE, LONG, TableFormat
from plackett.data.file_bytes import bare_suffix, read_bytes
from plackett.data.tables import what_is_wrong

if TYPE_CHECKING:
    import polars as pl


def _whole(path: Any, bad: BadLines, separator: str | None) -> pl.DataFrame:
    import polars as pl

    separator = separator or _separator(path)
    with _plain_file(path) as plain_path:
        options: dict[str, Any] = {"separator": separator, "infer_schema": False, "encoding": "utf8-lossy"}
        try:
            frame = pl.read_csv(plain_path, **options)
        except pl.exceptions.ComputeError:  # lines that are too long, or damage, which the second reading finds
            frame = pl.read_csv(plain_path, truncate_ragged_lines=True, **options)
            long = _too_long(plain_path, separator)
            frame = frame.with_columns(pl.int_range(pl.len()).is_in(long).alias(LONG)) if long else frame
    bad.total = frame.height
    breaks = _line_breaks(frame)
    if breaks.sum():
        frame = frame.with_columns((pl.int_range(pl.len()) + bad.first + breaks.cum_sum() - breaks).alias(LINE))
    return frame


def _batches(path: Any, bad: BadLines, separator: str | None, n_rows: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    separator = separator or _separator(path)
    long: list[int] = []
    with _plain_file(path) as plain_path:
        options: dict[str, Any] = {"separator": separator, "infer_schema": False, "encoding": "utf8-lossy"}
        rows = pl.scan_csv(plain_path, truncate_ragged_lines=True, **options)
        try:  # parses every line, and keeps none
            pl.scan_csv(plain_path, **options).select(pl.all().null_count()).collect(engine="streaming")
        except pl.exceptions.ComputeError:
            long = _too_long(plain_path, separator)
        line = pl.col(LINE).cast(pl.Int64)
        rows = rows.with_row_index(LINE, offset=bad.first)
        rows = rows.with_columns((line - bad.first).is_in(long).alias(LONG)) if long else rows
        moved = 0
        for batch in rows.collect_batches(chunk_size=n_rows, maintain_order=True):
            bad.total += batch.height
            breaks = _line_breaks(batch)
            batch = batch.with_columns(line + moved + breaks.cum_sum() - breaks)
            moved += int(breaks.sum())
            yield from batch.iter_slices(n_rows)


def _separator(path: Any) -> str:
    """The separator between the columns of the first line."""
    first = "\t" if bare_suffix(path) in (".tsv", ".tab") else ","
    _, head = next(iter(lines(path)), (1, ""))
    return first if first in head else next((mark for mark in ",;\t|" if mark in head), first)


@contextmanager
def _plain_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The file, or a temporary one with what a compressed file contains."""
    with open(path, "rb") as file:
        codec = codec_of(os.fspath(path), file.read(16))
    if codec is None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="plackett-clicks-") as folder:
        plain_path = Path(folder) / "table.csv"
        with open(plain_path, "wb") as out:
            for piece in pieces(os.fspath(path)):
                out.write(piece)
        yield plain_path


def _too_long(path: Path, separator: str) -> list[int]:
    """Numbers, from 0, of the rows that have more cells than the header."""
    long: list[int] = []
    width = 0
    rows = csv.reader((f"{text}\n" for _, text in lines(path)), delimiter=separator)
    try:
        for number, row in enumerate(rows):
            width = width or len(row)
            if len(row) > width and any(row[width:]):
                long.append(number - 1)
    except csv.Error as error:
        raise DataError(f"{path}: line {rows.line_num}: {error}") from None
    return long


def _line_breaks(frame: pl.DataFrame) -> pl.Series:
    """Number of line breaks within the cells of each row, by which the lines of later rows move."""
    import polars as pl

    cells = pl.col(pl.String).str.count_matches("\n", literal=True).fill_null(0).cast(pl.Int64)
    return frame.select(pl.sum_horizontal(cells)).to_series()


def _damage(path: Any, separator: str | None, error: Exception) -> str:
    """Why a table cannot be read, in our own words."""
    return what_is_wrong(read_bytes(path).tobytes(), separator or _separator(path), error)


DELIMITED = TableFormat((".csv", ".tsv", ".tab"), _whole, _batches, _damage)
