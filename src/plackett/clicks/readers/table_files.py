"""Files with tables of clicks, whatever their format: whole, or in batches of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.delimited import DELIMITED
from plackett.clicks.readers.json_lines import JSON_LINES
from plackett.clicks.readers.parquet import PARQUET
from plackett.clicks.readers.table_format import TableFormat
from plackett.data.file_bytes import bare_suffix

if TYPE_CHECKING:
    import polars as pl

#: A file of any other name is taken for text with separators.
_FORMATS = {suffix: each for each in (DELIMITED, PARQUET, JSON_LINES) for suffix in each.suffixes}


def _format_of(path: Any) -> TableFormat:
    return _FORMATS.get(bare_suffix(path), DELIMITED)


def is_table_file(path: str | os.PathLike[str]) -> bool:
    """Whether the name is that of a table."""
    return bare_suffix(path) in _FORMATS


def read_frame(path: Any, separator: str | None) -> tuple[pl.DataFrame, BadLines]:
    """The table of a file, and what of it is no row."""
    import polars as pl

    bad = BadLines(os.fspath(path))
    check_regular(path)
    try:
        return _format_of(path).whole(path, bad, separator), bad
    except pl.exceptions.PolarsError as error:
        raise damaged(path, error, separator) from None


def batches(path: Any, bad: BadLines, n_rows: int, separator: str | None) -> Iterator[pl.DataFrame]:
    """Tables of at most about this many rows, with the line of each."""
    check_regular(path)
    yield from _format_of(path).batches(path, bad, separator, n_rows)


def damaged(path: Any, error: Exception, separator: str | None) -> DataError:
    """Why a table cannot be read."""
    return DataError(f"{path}: {_format_of(path).damage(path, separator, error)}")
