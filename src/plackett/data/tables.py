"""Datasets in parquet and in comma- or tab-separated text."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._atomic import replacing
from plackett._errors import CellError, DataError
from plackett._files import check_regular
from plackett.data._bytes import bare_suffix, read_bytes
from plackett.data._compression import CODECS, replacing_compressed
from plackett.data._tables import is_alias, missing_ids
from plackett.data.columns import choose_columns, log_columns
from plackett.data.dataset import RankingDataset
from plackett.data.frames import dataset_of, to_polars

if TYPE_CHECKING:
    import polars as pl

__all__ = ["csv_chunks", "parquet_chunks", "read_csv", "read_parquet", "write_csv", "write_parquet"]

#: Bytes in which the line of column names is looked for.
_HEADER = 1 << 24
#: Rows of a table that decide what its columns mean where it is read in parts.
_FIRST_ROWS = 10_000
#: An id that is written as a whole number.
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
#: Bytes of a table of text that are read at once.
_BLOCK = 1 << 23
#: Words for a missing value, besides an empty field.
_MISSING = ["NA", "N/A", "NULL", "null", "None", "?"]


def read_parquet(path: str | os.PathLike[str], **columns: Any) -> RankingDataset:
    """Read a dataset from a parquet file with one row per document.

    Parameters
    ----------
    columns
        Which columns mean what; see `plackett.RankingDataset.from_frame`. A file of `write_parquet` needs none.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/train.parquet"
    >>> write_parquet(RankingDataset.from_arrays([[0.5]], [1], qid=["a"]), path)
    >>> read_parquet(path)
    RankingDataset(1 query, 1 row, 1 feature, feature_names)
    """
    import polars as pl

    check_regular(path)
    try:
        table = pl.read_parquet(Path(path))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a parquet file, or a damaged one: {error}") from None
    return _named(path, table, columns, lambda row: f"row {row + 1}")


def write_parquet(data: RankingDataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset to a parquet file, one row per document, with the columns of `plackett.RankingDataset.to_polars`.

    Preferences do not fit into rows and raise an error: use the native file instead.
    """
    table = _rows(data, path)
    with replacing(path) as file:
        table.write_parquet(file)


def read_csv(path: str | os.PathLike[str], *, separator: str | None = None, **columns: Any) -> RankingDataset:
    r"""Read a dataset from CSV or TSV text with a header line; ``.gz``, ``.xz`` and ``.zst`` are decompressed.

    Ids are integers if all of them are written as integers (``17``, but not ``017``), otherwise strings. An empty
    field, ``NA``, ``N/A``, ``NULL``, ``None`` or ``?`` is a missing value. An id must not be missing, and
    ``None``, ``nan``, ``NaN``, ``NaT``, ``<NA>``, ``null`` and ``NULL`` are missing ids among whole numbers.

    Parameters
    ----------
    separator
        By default a tab for ``.tsv`` and ``.tab``, else a comma.
    columns
        Which columns mean what; see `plackett.RankingDataset.from_frame`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = path.write_text("qid,label,bm25\n7,1,0.5\n7,0,\n")
    >>> read_csv(path).X.ravel().tolist()
    [0.5, nan]
    """
    import polars as pl

    raw = read_bytes(path).tobytes()
    options: dict[str, Any] = {"separator": separator or _separator(path)}
    try:
        names = pl.read_csv(raw, n_rows=0, infer_schema=False, **options).columns
        _check_header(path, raw, options["separator"])
        ids = {name for name in (columns.get("qid"), columns.get("docid")) if name}
        ids |= {name for name in names if is_alias(name, "qid") or is_alias(name, "docid")}
        as_text = {name: pl.String for name in names if name in ids}
        options["schema_overrides"] = as_text
        try:
            table = pl.read_csv(raw, infer_schema_length=1000, **options)
        except pl.exceptions.ComputeError:  # a column that begins with whole numbers continues with others
            table = pl.read_csv(raw, infer_schema_length=None, **options)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {what_is_wrong(raw, options['separator'], error)}") from None
    table = _whole_ids(table, list(as_text))
    table = table.rename(_with_quotes(raw, options["separator"], table.columns))
    text_columns = [
        name for name, dtype in table.schema.items() if dtype == pl.String and name not in (*ids, "comment")
    ]
    table = table.with_columns(_without_missing(table[name]) for name in text_columns)
    return _named(path, table, columns, lambda row: f"line {_line(raw, options['separator'], row)}")


def parquet_chunks(path: str | os.PathLike[str], rows: int, **columns: Any) -> Iterator[RankingDataset]:
    """The datasets of consecutive parts of a parquet file, whole queries each; their rows must be contiguous."""
    import polars as pl

    check_regular(path)
    try:
        scan = pl.scan_parquet(Path(path))
        yield from _chunks(path, _slices(scan, rows), scan.head(_FIRST_ROWS).collect(), rows, columns)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a parquet file, or a damaged one: {error}") from None


def csv_chunks(path: str | os.PathLike[str], rows: int, **columns: Any) -> Iterator[RankingDataset]:
    """The datasets of consecutive parts of an uncompressed CSV or TSV file; types are those of the first rows."""
    import polars as pl

    check_regular(path)
    separator = columns.pop("separator", None) or _separator(path)
    with open(path, "rb") as file:
        raw = file.read(_HEADER)
    if any(raw.startswith(codec.magic) for codec in CODECS) or b'""' in raw.split(b"\n", 1)[0]:
        raise DataError(f"{path}: compressed text, and names of columns with quotes, are read as a whole")
    try:
        _check_header(path, raw, separator)
        names = pl.read_csv(raw, n_rows=0, infer_schema=False, separator=separator).columns
        ids = {name for name in (columns.get("qid"), columns.get("docid")) if name}
        ids |= {name for name in names if is_alias(name, "qid") or is_alias(name, "docid")}
        first = pl.read_csv(
            Path(path),
            n_rows=_FIRST_ROWS,
            separator=separator,
            schema_overrides={name: pl.String for name in names if name in ids},
        )
        text_columns = [
            name for name, dtype in first.schema.items() if dtype == pl.String and name not in (*ids, "comment")
        ]
        first = first.with_columns(_without_missing(first[name]) for name in text_columns)
        numbers = [name for name, dtype in first.schema.items() if dtype.is_numeric()]
        options: dict[str, Any] = {
            "separator": separator,
            "schema": dict(first.schema) | dict.fromkeys(numbers, pl.Float64),
            "null_values": _MISSING if text_columns and "comment" not in names else None,
        }
        tables = (
            pl.read_csv(text, has_header=number == 0, **options) for number, text in enumerate(_blocks_of_lines(path))
        )
        yield from _chunks(path, tables, first, rows, columns)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {str(error).partition(chr(10))[0]}") from None


def _blocks_of_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The text in blocks that end where a row of the table does: a line break inside quotes does not count."""
    rest = b""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            text = rest + block
            end = text.rfind(b"\n") + 1
            while end and text.count(b'"', 0, end) % 2:
                end = text.rfind(b"\n", 0, end - 1) + 1
            if end:
                yield text[:end]
            rest = text[end:]
            if len(rest) > _HEADER + _BLOCK:
                raise DataError(f"{path}: a row of more than {_HEADER} bytes, or a quoted field that does not end")
    if rest.strip():
        yield rest


def _slices(scan: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    n = scan.select(pl.len()).collect().item()
    for start in range(0, n, rows):
        yield scan.slice(start, rows).collect()


def _chunks(
    path: Any, tables: Iterable[pl.DataFrame], first: pl.DataFrame, rows: int, columns: dict[str, Any]
) -> Iterator[RankingDataset]:
    chosen = choose_columns(first, **columns)
    before = 0
    for number, table in enumerate(_whole_queries(tables, chosen.roles["qid"], rows)):
        if number == 0:
            log_columns(chosen, str(path))
        ids = [chosen.roles[role] for role in ("qid", "docid") if role in chosen.roles]
        try:
            yield dataset_of(_whole_ids(table, ids), chosen)
        except CellError as error:
            row = before + error.row + 1
            raise DataError(f"{path}: row {row}, column {error.column!r}: {error.problem}") from None
        before += table.height


def _whole_ids(table: pl.DataFrame, ids: list[str]) -> pl.DataFrame:
    """Ids of text as whole numbers, if all of them are written as such; null where a word says that there is none."""
    import polars as pl

    text = [name for name in ids if table.schema[name] == pl.String]
    table = table.with_columns(table[name].set(missing_ids(table[name]) & (table[name] != ""), None) for name in text)
    whole = [name for name in text if table[name].str.contains(_WHOLE).all()]
    return table.with_columns(pl.col(whole).cast(pl.Int64))


def _whole_queries(tables: Iterable[pl.DataFrame], qid: str, rows: int) -> Iterator[pl.DataFrame]:
    """Tables cut where a query ends, with at least that many rows each but the last."""
    import polars as pl

    kept: list[pl.DataFrame] = []
    for table in tables:
        kept.append(table)
        if sum(part.height for part in kept) < rows:
            continue
        joined = pl.concat(kept)
        other = joined[qid].ne_missing(joined[qid][-1:].new_from_index(0, joined.height)).reverse()
        end = joined.height - int(other.arg_max() or 0) if other.any() else 0
        if end:
            yield joined[:end]
        kept = [joined[end:]]
    if kept:
        yield pl.concat(kept)


def _check_header(path: Any, raw: bytes, separator: str) -> None:
    """Refuse text of another encoding or separator, and columns of the same name, which polars renames."""
    first = raw[:_HEADER].split(b"\n", 1)[0]
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in first:
        raise DataError(f"{path}: the text is UTF-16; save it as UTF-8")
    try:
        text = raw[:_HEADER].decode("utf-8-sig") if len(raw) <= _HEADER else first.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8 ({error.object[error.start]:#x}); save it as UTF-8"
        ) from None
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path}: two columns are called {twice!r}; rename one")
    others = [other for other in ";\t,|" if other != separator and other in text.partition("\n")[0]]
    if len(header) == 1 and others:
        raise DataError(f"{path}: the columns are separated by {others[0]!r}, not by {separator!r}; {_SEPARATORS}")


#: What to do about another separator.
_SEPARATORS = "give separator=… in Python, or save the table with commas (.csv) or tabs (.tsv)"


def what_is_wrong(raw: bytes, separator: str, error: Exception) -> str:
    """The line where a table goes wrong, in our own words: polars writes about its parameters."""
    if not raw.strip():
        return "the file is empty"
    records = csv.reader(io.StringIO(raw.decode("utf-8-sig", "replace"), newline=""), delimiter=separator, strict=True)
    width, line = None, 1
    try:
        for record in records:
            width = len(record) if width is None else width
            if len(record) > width:
                return f"line {line} has {len(record)} fields, but there are {width} columns"
            line = records.line_num + 1
    except csv.Error:
        return f"line {line}: a quoted field does not end"
    first = str(error).strip().partition("\n")[0]
    return f"not a table with separator {separator!r}: {first}"


def _line(raw: bytes, separator: str, row: int) -> int:
    """Number of the line, as editors count, on which a row of the table begins: fields in quotes may span lines."""
    lines = io.StringIO(raw.decode("utf-8-sig", "replace"), newline="")
    records, ended, seen = csv.reader(lines, delimiter=separator), 0, -1
    try:
        for record in records:
            if record and seen == row:
                return ended + 1
            seen += bool(record)
            ended = records.line_num
    except csv.Error:
        pass
    return row + 2


def _with_quotes(raw: bytes, separator: str, names: list[str]) -> dict[str, str]:
    """Column names as they are meant, where polars keeps the doubled quotes of the file."""
    if not any('""' in name for name in names):
        return {}
    lines = io.StringIO(raw[:_HEADER].decode("utf-8-sig", "replace"), newline="")
    try:
        header = next(csv.reader(lines, delimiter=separator), [])
    except csv.Error:
        return {}
    pairs = zip(names, header, strict=False)
    return {parsed: meant for parsed, meant in pairs if parsed == meant.replace('"', '""')}


def _without_missing(column: pl.Series) -> pl.Series:
    """Numbers, if that is what is left of a column of text without the words for a missing value."""
    import polars as pl

    left = column.set(column.is_in(_MISSING), None)
    numbers = left.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == left.null_count() else column


def write_csv(data: RankingDataset, path: str | os.PathLike[str], *, separator: str | None = None) -> None:
    """Write a dataset as CSV or TSV text with a header line; a missing value is an empty field.

    Numbers and text are read back exactly. An id or comment that a spreadsheet would run as a formula (``=…``) is not
    escaped, because this format is meant to be read again. Preferences, relations, subtopics
    and query features do not fit and raise an error.
    """
    import polars as pl
    import polars.selectors as cs

    for name in ("subtopics", "query_features"):
        if getattr(data, name) is not None:
            raise DataError(f"{path}: {name} do not fit into separated text; write .parquet or .plackett")
    table = _rows(data, path)
    for name in ("qid", "docid"):
        if table.schema.get(name) != pl.String:
            continue
        unreadable = missing_ids(table[name]) & (table[name] != "")
        if unreadable.any():
            raise DataError(
                f"{path}: the {name} {table[name][unreadable.arg_max() or 0]!r} would be read as a missing one; write "
                ".parquet or .plackett"
            )
    with replacing_compressed(path) as file:
        table.with_columns(cs.float().fill_nan(None)).write_csv(file, separator=separator or _separator(path))


def _separator(path: str | os.PathLike[str]) -> str:
    return "\t" if bare_suffix(path) in (".tsv", ".tab") else ","


def _rows(data: RankingDataset, path: Any) -> pl.DataFrame:
    """The rows of a table in the order of the input, so that score files of the input fit the output too."""
    if data.preferences is not None:
        raise DataError(f"{path}: preferences between documents do not fit into rows; write .plackett")
    if data.relations is not None:
        raise DataError(f"{path}: relations between documents do not fit into rows; write .plackett")
    return to_polars(data)[data.to_input_order(np.arange(data.n_rows))]


def _named(path: Any, table: pl.DataFrame, columns: dict[str, Any], locate: Callable[[int], str]) -> RankingDataset:
    """The dataset of a table; ``locate`` says where in the file a row is."""
    sparse = columns.pop("sparse", False)
    try:
        chosen = choose_columns(table, **columns)
        data = dataset_of(table, chosen, sparse)
    except CellError as error:
        raise DataError(f"{path}: {locate(error.row)}, column {error.column!r}: {error.problem}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    log_columns(chosen, str(path))
    return data
