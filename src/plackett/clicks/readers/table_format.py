"""What a file format of tables provides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from plackett.clicks.bad_lines import BadLines

if TYPE_CHECKING:
    import polars as pl

#: Name of the column with the line of each row, and of the one that marks rows with more cells than the header.
LINE, LONG = "__line__", "__long__"


class TableFormat(NamedTuple):
    """A file format of tables. Rows that are no rows are counted in the `BadLines`; ``__line__`` has their lines."""

    #: Suffixes of its files, without that of a compression.
    suffixes: tuple[str, ...]
    #: The whole table of a file, given the separator of its columns or None.
    whole: Callable[[Any, BadLines, str | None], pl.DataFrame]
    #: Tables of at most so many rows, with the line of each.
    batches: Callable[[Any, BadLines, str | None, int], Iterator[pl.DataFrame]]
    #: Why a file cannot be read, given the separator and the error of polars.
    damage: Callable[[Any, str | None, Exception], str]


def first_line_of(path: Any, separator: str | None, error: Exception) -> str:
    """What polars says, without its advice."""
    return str(error).strip().partition("\n")[0]
