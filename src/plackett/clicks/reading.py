"""One reader for every click log."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._names.nearest import hint
from plackett.clicks.log import ClickLog
from plackett.clicks.readers.events import iter_events, read_events
from plackett.clicks.readers.lines import lines
from plackett.clicks.readers.page_lines import iter_pages, read_pages
from plackett.clicks.readers.query_click_lines import iter_yandex, read_yandex
from plackett.clicks.readers.table_files import is_table_file
from plackett.clicks.readers.tables import iter_table, read_table
from plackett.clicks.readers.ubi import iter_ubi, read_ubi
from plackett.clicks.storage import open_log
from plackett.data.frame_columns import is_table

__all__ = ["iter_clicks", "read_clicks"]

#: Name of a format to its reader.
FORMATS: dict[str, Callable[..., ClickLog]] = {
    "native": open_log,
    "table": read_table,
    "yandex": read_yandex,
    "clara2": read_yandex,
    "pages": read_pages,
    "ubi": read_ubi,
    "events": read_events,
}


def read_clicks(path: Any, format: str | None = None, **options: Any) -> ClickLog:
    r"""Read a click log.

    Parameters
    ----------
    path
        The file, or a table of pandas, polars or Arrow (format ``"table"`` or ``"events"``).
    format
        ``"native"`` (`ClickLog.save`), ``"table"`` (CSV, TSV, parquet, JSON lines), ``"yandex"`` or ``"clara2"`` (lines
        of queries and clicks), ``"pages"`` (a record per page), ``"ubi"`` (OpenSearch), ``"events"`` (other logs of
        events, a row or JSON object per impression, click or action, whose fields are named as in `read_events`). None
        detects it from the name and the first lines; a table is not taken for events unasked.
    options
        For tables, the columns: ``page``, ``query``, ``document``, ``rank``, ``clicks``, ``click_order``, ``dwell``,
        ``actions``, ``user``, ``time``, ``ranker``, ``propensity``, ``conditional_propensity``, ``weight``; usual names
        are found. A table has one row per shown document (rows of a page share ``page``; ``page`` may be a list of
        columns that tell pages apart together), or one row per page whose cells are lists; ``clicks`` may then be the
        list of the clicked documents, in the order of the clicks. ``first_rank`` is what the top rank is called, 0 or
        1; None takes 0 if most pages have it. ``key`` is the key of the hash of user ids. For other formats, see their
        readers.

    Returns
    -------
    ClickLog
        ``log.bad_lines`` says what was left out, with line numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = path.write_text("page,query,document,position,clicked\n1,shoe,a,1,0\n1,shoe,b,2,1\n2,shoe,b,1,x\n")
    >>> log = read_clicks(path)
    >>> log.clicks.tolist()
    [0, 1]
    >>> print(log.bad_lines)  # doctest: +ELLIPSIS
    /...log.csv: 1 of 3 lines left out
      1 × clicks is not a whole number from 0 (its page is left out), such as line 4: 'document b'
    """
    return _fitting(FORMATS, path, format, options)(path, **options)


def _fitting(readers: dict[str, Callable[..., Any]], path: Any, format: str | None, options: dict[str, Any]) -> Any:
    """The reader of a format, which takes the options: those of the reader of a whole file."""
    chosen = format or ("table" if is_table(path) else detect(path))
    if chosen not in readers:
        raise DataError(f"unknown format {chosen!r} of a click log; {hint(chosen, readers)}")
    if is_table(path) and chosen not in ("table", "events"):
        raise DataError(f"format={chosen!r} is for files; a table in memory is 'table' or 'events'")
    known = inspect.signature(FORMATS[chosen]).parameters
    unknown = {*options} - {*known}
    if unknown and not any(each.kind is each.VAR_KEYWORD for each in known.values()):
        name = sorted(unknown)[0]
        raise DataError(f"the format {chosen!r} has no option {name!r}; {hint(name, [*known][1:], 'it has')}")
    return readers[chosen]


def detect(path: str | os.PathLike[str]) -> str:
    """Format of a file, by its name and first lines."""
    check_regular(path)
    if os.fspath(path).lower().endswith(".plackett"):
        return "native"
    head = [text for _, text in zip(range(20), (text for _, text in lines(path)), strict=False) if text.strip()]
    text = [line for line in head if not line.startswith("#")]
    if not text:
        raise DataError(f"{path}: the file is empty")
    if any("ubi_events" in line or "ubi_queries" in line for line in head):
        return "ubi"
    fields = text[0].split("\t")
    if len(fields) > 3 and fields[2] in ("Q", "C"):
        return "yandex"
    if len(fields) >= 2 and "," in fields[1] and ":" in fields[1]:
        return "pages"
    if is_table_file(path):
        return "table"
    raise DataError(f"{path}: not recognised as a click log; name its format (format=…): {', '.join(FORMATS)}")


def iter_clicks(
    path: str | os.PathLike[str], n_rows: int = 1_000_000, format: str | None = None, **options: Any
) -> Iterator[ClickLog]:
    """Read a log larger than memory in parts, with whole pages in each.

    Rows of a page must be next to each other in a table; events of a page may be anywhere. ``bad_lines`` of a part
    counts from the beginning of the file. Click models learn from parts by ``partial_fit``.

    Parameters
    ----------
    n_rows
        About how many rows a part has.
    format, options
        As in `read_clicks`. Give ``key`` if users matter across runs.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> path = tempfile.mkdtemp() + "/log.parquet"
    >>> log = ClickLog.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[0, 1]] * 4)
    >>> log.to_frame().write_parquet(path)
    >>> [part.n_pages for part in iter_clicks(path, n_rows=4)]
    [1, 2, 1]
    """
    whole("n_rows", n_rows, least=1)
    yield from _fitting(PARTS, path, format, options)(path, n_rows, **options)


def _native_parts(path: str | os.PathLike[str], n_rows: int, **options: Any) -> Iterator[ClickLog]:
    log = open_log(path, **options)
    start = 0
    while start < log.n_pages:
        stop = max(int(np.searchsorted(log.offsets, log.offsets[start] + n_rows, side="right")) - 1, start + 1)
        yield log.select(np.arange(start, stop))
        start = stop


#: Name of a format to its reader in parts.
PARTS: dict[str, Callable[..., Iterator[ClickLog]]] = {
    "native": _native_parts,
    "table": iter_table,
    "yandex": iter_yandex,
    "clara2": iter_yandex,
    "pages": iter_pages,
    "ubi": iter_ubi,
    "events": iter_events,
}
