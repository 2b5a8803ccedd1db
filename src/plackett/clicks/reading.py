"""One reader for every click log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from plackett._errors import DataError
from plackett._names import hint
from plackett._provenance import fulfils
from plackett.clicks.log import ClickLog
from plackett.clicks.readers._pages import lines
from plackett.clicks.readers.columns import is_table_file, read_table
from plackett.clicks.readers.events import read_ubi
from plackett.clicks.readers.page_lines import read_pages
from plackett.clicks.readers.query_click_lines import read_yandex
from plackett.clicks.storage import open_log

__all__ = ["FORMATS", "iter_clicks", "read_clicks"]

#: Name of a format to its reader.
FORMATS: dict[str, Callable[..., ClickLog]] = {
    "native": open_log,
    "table": read_table,
    "yandex": read_yandex,
    "clara2": read_yandex,
    "pages": read_pages,
    "ubi": read_ubi,
}


@fulfils()
def read_clicks(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> ClickLog:
    r"""Read a click log.

    Parameters
    ----------
    format
        ``"native"`` (`ClickLog.save`), ``"table"`` (CSV, TSV, parquet, JSON lines), ``"yandex"`` or ``"clara2"`` (lines
        of queries and clicks), ``"pages"`` (a record per page), ``"ubi"`` (OpenSearch). None finds it by the name
        and the first lines. Other event logs: `read_events`.
    options
        For tables, the columns: ``page``, ``query``, ``document``, ``rank``, ``clicks``, ``click_order``, ``dwell``,
        ``actions``, ``user``, ``time``, ``ranker``, ``propensity``, ``conditional_propensity``, ``weight``; usual names
        are found. A table has one row per shown document (rows of a page share ``page``), or one row per page whose
        cells are lists. ``key`` is the key of the hash of user ids. For other formats, see their readers.

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
    chosen = format or detect(path)
    if chosen not in FORMATS:
        raise DataError(f"unknown format {chosen!r} of a click log; {hint(chosen, FORMATS)}")
    return FORMATS[chosen](path, **options)


def detect(path: str | os.PathLike[str]) -> str:
    """Format of a file, by its name and first lines."""
    if os.fspath(path).lower().endswith(".plackett"):
        return "native"
    try:
        head = [text for _, text in zip(range(20), (text for _, text in lines(path)), strict=False) if text.strip()]
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, not a click log") from None
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


@fulfils()
def iter_clicks(path: str | os.PathLike[str], n_rows: int = 1_000_000, **options: Any) -> Iterator[ClickLog]:
    """Read a table larger than memory in parts, with whole pages in each; rows of a page must be next to each other.

    Parameters
    ----------
    n_rows
        About how many rows a part has.
    options
        As in `read_clicks`. Give ``key`` if users matter across parts.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> path = tempfile.mkdtemp() + "/log.parquet"
    >>> log = ClickLog.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[0, 1]] * 4)
    >>> log.to_frame().write_parquet(path)
    >>> [part.n_pages for part in iter_clicks(path, n_rows=5)]
    [2, 2]
    """
    import polars as pl

    from plackett.clicks.readers.columns import COLUMNS, _column, log_of_frame
    from plackett.data._bytes import bare_suffix

    suffix = bare_suffix(path)
    if suffix == ".parquet":
        lazy = pl.scan_parquet(os.fspath(path))
    elif suffix in (".csv", ".tsv"):
        separator = "\t" if suffix == ".tsv" else ","
        lazy = pl.scan_csv(os.fspath(path), separator=separator, infer_schema=False, truncate_ragged_lines=True)
    else:
        raise DataError(f"{path}: only .parquet, .csv and .tsv are read in parts")
    page = _column(lazy.head(0).collect(), "page", options.get("page"))
    if page is None:
        raise DataError(f"{path}: no column for the page; the usual names are {', '.join(COLUMNS['page'])}")
    lazy = lazy.with_row_index("__line__", offset=2)
    rest: pl.DataFrame | None = None
    for batch in lazy.collect_batches(chunk_size=n_rows, maintain_order=True):
        batch = batch if rest is None else pl.concat([rest, batch])
        last = batch[page].rle_id()
        whole, rest = batch.filter(last < last[-1]), batch.filter(last == last[-1])
        if whole.height >= n_rows - rest.height:
            yield log_of_frame(whole, **options)
        else:
            rest = batch
    if rest is not None and rest.height:
        yield log_of_frame(rest, **options)
