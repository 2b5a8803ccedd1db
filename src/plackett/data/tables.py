"""Datasets in parquet and in comma- or tab-separated text."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import CellError, DataError, parameter
from plackett._files.atomic import replacing
from plackett._files.checks import check_regular
from plackett._files.compression import replacing_compressed
from plackett._files.parquet import parquet_frame
from plackett.data.columns import choose_columns, log_columns
from plackett.data.dataset import RankingDataset
from plackett.data.file_bytes import bare_suffix, read_bytes
from plackett.data.frame_columns import is_alias, missing_ids

if TYPE_CHECKING:
    import polars as pl

#: Bytes in which the line of column names is looked for.
_HEADER = 1 << 24
#: An id that is written as a whole number.
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
#: Words for a missing value, and the empty field in quotes; polars itself knows the one without quotes.
MISSING = ["", "NA", "N/A", "NULL", "null", "None", "?"]


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
        table = parquet_frame(Path(path))
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
    options: dict[str, Any] = {"separator": separator or separator_of(path)}
    try:
        names = pl.read_csv(raw, n_rows=0, infer_schema=False, **options).columns
        check_header(path, raw, options["separator"])
        as_text = columns_of_text(names, columns)
        options["schema_overrides"] = dict.fromkeys(as_text, pl.String)
        try:
            table = pl.read_csv(raw, infer_schema_length=1000, **options)
        except pl.exceptions.ComputeError:  # a column that begins with whole numbers continues with others
            table = pl.read_csv(raw, infer_schema_length=None, **options)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {what_is_wrong(raw, options['separator'], error)}") from None
    table = without_blank_lines(table)
    table = whole_ids(without_ids(table, as_text), as_text)
    table = table.with_columns(
        without_missing(table[name])
        for name, dtype in table.schema.items()
        if dtype == pl.String and name not in as_text
    )
    table = table.rename(_with_quotes(raw, options["separator"], table.columns))
    return _named(path, table, columns, lambda row: f"line {line_of(raw, options['separator'], row + 1)}")


def columns_of_text(names: list[str], columns: dict[str, Any]) -> list[str]:
    """Columns of a text file that are not read as numbers: ids and comments, unless they are named as features."""
    numbers: set[str] = set()
    for option in ("features", "query_features"):
        given = columns.get(option) or ()
        numbers |= {given} if isinstance(given, str) else set(given) if isinstance(given, Iterable) else set()
    ids = {columns.get("qid"), columns.get("docid")}
    usual = {name for name in names if is_alias(name, "qid") or is_alias(name, "docid") or name == "comment"}
    return [name for name in names if name in ids | (usual - numbers)]


def without_blank_lines(table: pl.DataFrame) -> pl.DataFrame:
    """The rows that have at least one value: for polars an empty line is a row of missing values."""
    import polars as pl

    if table.is_empty() or not all(column.null_count() for column in table):
        return table
    return table.filter(~pl.all_horizontal(pl.all().is_null()))


def without_ids(table: pl.DataFrame, ids: Sequence[str]) -> pl.DataFrame:
    """The table, with null for the ids that are missing because a word such as ``nan`` says so."""
    ids = [name for name in ids if name != "comment"]
    return table.with_columns(table[name].set(missing_ids(table[name]) & (table[name] != ""), None) for name in ids)


def whole_ids(table: pl.DataFrame, ids: Sequence[str]) -> pl.DataFrame:
    """Ids of text as whole numbers, if all of them are written as such."""
    import polars as pl

    whole = [name for name in ids if name != "comment" and table[name].str.contains(_WHOLE).all()]
    return table.with_columns(pl.col(whole).cast(pl.Int64))


def check_header(path: Any, raw: bytes, separator: str) -> None:
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
        advice = _SEPARATORS.format(parameter("separator"))
        raise DataError(f"{path}: the columns are separated by {others[0]!r}, not by {separator!r}; {advice}")


#: What to do about another separator.
_SEPARATORS = "give {}, or save the table with commas (.csv) or tabs (.tsv)"


def what_is_wrong(raw: bytes, separator: str, error: Exception, *, width: int | None = None, lines: int = 0) -> str:
    """The line where a table goes wrong, in our own words: polars writes about its parameters.

    A part of a file has ``lines`` lines before it, and the number of columns is known (``width``).
    """
    if not raw.strip():
        return "the file is empty"
    records = csv.reader(io.StringIO(raw.decode("utf-8-sig", "replace"), newline=""), delimiter=separator, strict=True)
    line = lines + 1
    try:
        for record in records:
            width = len(record) if width is None else width
            if len(record) > width:
                return f"line {line} has {len(record)} fields, but there are {width} columns"
            line = lines + records.line_num + 1
    except csv.Error:
        return f"line {line}: a quoted field does not end"
    first = str(error).strip().partition("\n")[0]
    return f"not a table with separator {separator!r}: {first}"


def line_of(raw: bytes, separator: str, number: int) -> int:
    """The line, as editors count, on which a record begins; the header is record 0. Fields in quotes may span lines."""
    lines = io.StringIO(raw.decode("utf-8-sig", "replace"), newline="")
    records, ended, seen = csv.reader(lines, delimiter=separator), 0, 0
    try:
        for record in records:
            if any(record) and seen == number:
                return ended + 1
            seen += any(record)
            ended = records.line_num
    except csv.Error:
        pass
    return number + 1


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


def without_words(column: pl.Series) -> pl.Series:
    """A column of text without blanks around the values, and null for the words for a missing value."""
    text = column.str.strip_chars()
    return text.set(text.is_in(MISSING), None)


def without_missing(column: pl.Series) -> pl.Series:
    """Numbers, if that is what a column of text has besides blanks and the words for a missing value."""
    import polars as pl

    left = without_words(column)
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
        table.with_columns(cs.float().fill_nan(None)).write_csv(file, separator=separator or separator_of(path))


def separator_of(path: str | os.PathLike[str]) -> str:
    """What separates the columns of a table of text, by the suffix of its file."""
    return "\t" if bare_suffix(path) in (".tsv", ".tab") else ","


def _rows(data: RankingDataset, path: Any) -> pl.DataFrame:
    """The rows of a table in the order of the input, so that score files of the input fit the output too."""
    if data.preferences is not None:
        raise DataError(f"{path}: preferences between documents do not fit into rows; write .plackett")
    if data.relations is not None:
        raise DataError(f"{path}: relations between documents do not fit into rows; write .plackett")
    return data.to_polars()[data.to_input_order(np.arange(data.n_rows))]


def _named(path: Any, table: pl.DataFrame, columns: dict[str, Any], locate: Callable[[int], str]) -> RankingDataset:
    """The dataset of a table; ``locate`` says where in the file a row is."""
    sparse = columns.pop("sparse", False)
    try:
        chosen = choose_columns(table, **columns)
        data = RankingDataset.from_columns(table, chosen, sparse=sparse)
    except CellError as error:
        raise DataError(f"{path}: {locate(error.row)}, column {error.column!r}: {error.problem}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    log_columns(chosen, str(path))
    return data
