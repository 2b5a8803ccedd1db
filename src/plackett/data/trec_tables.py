"""Runs and judgements in tables with named columns, whose ids may contain blanks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._files.compression import pieces
from plackett._files.parquet import parquet_frame
from plackett._names.nearest import plain
from plackett.data.file_bytes import bare_suffix, read_bytes
from plackett.data.frame_columns import find_column, look
from plackett.data.tables import check_header, line_of, separator_of, what_is_wrong, without_blank_lines

if TYPE_CHECKING:
    import polars as pl

#: Names of queries and documents in the tables of shops and search logs, besides the usual ones.
LOGGED = {
    "qid": ("query_text", "user_query", "keywords", "search_term"),
    "docid": ("docids", "item_id", "items", "products", "results", "sku", "url"),
}
#: Suffixes of tables, and of files that may be a table or a TREC file.
TABLES, PERHAPS = (".csv", ".parquet", ".jsonl", ".ndjson"), (".tsv", ".tab")


def is_table_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file has named columns, by its suffix; tab-separated lines do if there are no numbers in the first."""
    if bare_suffix(path) not in PERHAPS:
        return bare_suffix(path) in TABLES
    check_regular(path)
    first = next(iter(pieces(os.fspath(path))), b"").partition(b"\n")[0].decode("utf-8", "replace")
    return not any(field.lstrip("+-").replace(".", "", 1).isdigit() for field in first.split("\t"))


def read_table_file(
    path: str | os.PathLike[str], value: str, instead: str | None = None
) -> tuple[pl.DataFrame, Callable[[int], str]]:
    """The table of a file, and a function that says where a row is; ids of separated text are texts.

    The column of the ``value``, or ``instead`` if there is none, is read as numbers.
    """
    import polars as pl

    suffix = bare_suffix(path)
    check_regular(path)
    if suffix == ".parquet":
        try:
            return parquet_frame(Path(path)), "row {}".format
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{path}: not a parquet file, or a damaged one: {error}") from None
    raw = read_bytes(path).tobytes()
    if suffix in (".jsonl", ".ndjson"):
        try:
            return pl.read_ndjson(raw), "row {}".format
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{path}: not lines of JSON: {str(error).partition(chr(10))[0]}") from None
    head = raw.partition(b"\n")[0].decode("utf-8", "replace")
    separator = next((mark for mark in (separator_of(path), *";\t|") if mark in head), separator_of(path))
    quote = None if separator == "\t" else '"'  # BEIR's files have quotes inside ids, and none around them
    try:
        check_header(path, raw, separator)
        table = without_blank_lines(pl.read_csv(raw, infer_schema=False, separator=separator, quote_char=quote))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {what_is_wrong(raw, separator, error)}") from None

    def locate(row: int) -> str:
        return f"line {line_of(raw, separator, row + 1)}"

    column = find_column(table, value, needed=False) or instead
    if column not in table.columns:
        return table, locate
    numbers = table[column].str.strip_chars().cast(pl.Float64, strict=False)
    wrong = numbers.is_null() | numbers.is_nan()
    if wrong.any():
        row = wrong.arg_max() or 0
        raise DataError(f"{path}: {locate(row)}: the {value} is not a number: {table[column][row]!r}")
    return table.with_columns(numbers), locate


def name_ids(table: pl.DataFrame) -> pl.DataFrame:
    """The table with columns that can be found for the query and the document."""
    for role, usual in LOGGED.items():
        if find_column(table, role, needed=False) is None:
            named = next((name for word in usual for name in table.columns if plain(name) == plain(word)), None)
            if named is None:
                what = "query" if role == "qid" else "document"
                raise DataError(f"no column says what the {what} is; call it {role}: {look(table)}")
            table = table.rename({named: role})
    return table


def write_table_file(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table in the format of the suffix of the path; text is compressed if the suffix says so."""
    from plackett._files.atomic import replacing
    from plackett._files.compression import replacing_compressed

    suffix = bare_suffix(path)
    if suffix == ".parquet":
        with replacing(path) as file:
            frame.write_parquet(file)
        return
    with replacing_compressed(path) as file:
        if suffix in (".jsonl", ".ndjson"):
            frame.write_ndjson(file)
        else:
            frame.write_csv(file, separator=separator_of(path))
