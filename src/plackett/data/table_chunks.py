"""Datasets from large tables, part by part: parquet, and comma- or tab-separated text."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import CellError, DataError, PartsError, in_shell, parameter
from plackett._files.checks import check_regular
from plackett._files.compression import CODECS
from plackett._files.parquet import named_damage
from plackett.data.columns import Columns, choose_columns, log_columns
from plackett.data.dataset import RankingDataset
from plackett.data.frame_columns import MISSING_NUMBERS, are_whole
from plackett.data.tables import (
    check_header,
    columns_of_text,
    line_of,
    separator_of,
    what_is_wrong,
    whole_ids,
    without_blank_lines,
    without_missing,
    without_words,
)

if TYPE_CHECKING:
    import polars as pl

#: Bytes in which the line of column names is looked for, and the most that a row may have.
_HEADER = 1 << 24
#: Rows that decide what the columns mean.
_FIRST_ROWS = 10_000
#: Bytes of text that are read at once.
_BLOCK = 1 << 23
_BOM = b"\xef\xbb\xbf"


def parquet_chunks(path: str | os.PathLike[str], rows: int, **columns: Any) -> Iterator[RankingDataset]:
    """The datasets of consecutive parts of a parquet file, whole queries each; their rows must be contiguous."""
    import polars as pl

    check_regular(path)
    try:
        with named_damage(path):
            scan = pl.scan_parquet(Path(path))
            chosen = _chosen(path, scan.head(_FIRST_ROWS).collect(), columns)
            yield from _chunks(path, _slices(scan, rows), chosen, rows, lambda row: f"row {row + 1}")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a parquet file, or a damaged one: {error}") from None


def csv_chunks(path: str | os.PathLike[str], rows: int, **columns: Any) -> Iterator[RankingDataset]:
    """The datasets of consecutive parts of an uncompressed CSV or TSV file; types are those of the first rows."""
    import polars as pl

    check_regular(path)
    separator = columns.pop("separator", None) or separator_of(path)
    with open(path, "rb") as file:
        raw = file.read(_HEADER)
    if any(raw.startswith(codec.magic) for codec in CODECS):
        raise PartsError(f"{path}: compressed text is read as a whole")
    try:
        check_header(path, raw, separator)
        names = pl.read_csv(raw, n_rows=0, infer_schema=False, separator=separator).columns
        if any('"' in name for name in names):
            raise PartsError(f"{path}: a table with quotes in the names of columns is read as a whole")
        text = columns_of_text(names, columns)
        first = pl.read_csv(Path(path), n_rows=_FIRST_ROWS, infer_schema=False, separator=separator)
        alone = without_blank_lines(first).write_csv().encode()  # polars looks at later rows, too, to find the types
        first = pl.read_csv(alone, infer_schema_length=None, schema_overrides=dict.fromkeys(text, pl.String))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {what_is_wrong(raw, separator, error)}") from None
    first = first.with_columns(
        without_missing(first[name]) for name, dtype in first.schema.items() if dtype == pl.String and name not in text
    )
    chosen = _chosen(path, first, columns)
    # read as a whole, such columns may be true or false, or text that is left out
    unsure = first.columns if columns.get("drop_text") else [c.name for c in first if c.null_count() == first.height]
    blocks = _Blocks(path, separator, first.schema, chosen, unsure)
    ids = [chosen.roles[role] for role in ("qid", "docid") if role in chosen.roles]
    yield from _chunks(path, blocks.tables(), chosen, rows, lambda row: f"line {blocks.line(row)}", ids)


def _chosen(path: Any, first: pl.DataFrame, columns: dict[str, Any]) -> Columns:
    try:
        return choose_columns(first, **columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


class _Blocks:
    """Separated text in blocks that end where a row does, and where its rows are."""

    def __init__(self, path: Any, separator: str, schema: Any, chosen: Columns, unsure: list[str]) -> None:
        """``unsure`` are the columns of which the first rows do not tell what they are."""
        import polars as pl

        used = {*chosen.roles.values(), *chosen.features, *chosen.query_features}
        self.path, self.separator, self.unsure = path, separator, unsure
        self.features = chosen.features
        self.header = separator.join(f'"{name}"' for name in schema).encode() + b"\n"
        self.kinds: dict[str, Any] = dict.fromkeys(schema, pl.String)
        for name in used:
            if schema[name].is_numeric():
                self.kinds[name] = pl.Float64
            elif schema[name] == pl.Boolean:
                self.kinds[name] = pl.Boolean
        #: First row, first byte, number of bytes and first line of each block.
        self.parts: list[tuple[int, int, int, int]] = []

    def tables(self) -> Iterator[pl.DataFrame]:
        """The blocks as tables; what is neither a number nor true or false in the first rows is text."""
        row = line = 0
        for byte, text in self._texts():
            self.parts.append((row, byte, len(text), line))
            table = self._parsed(text)
            yield table
            row += table.height
            line += text.count(b"\n")

    def line(self, row: int) -> int:
        """The line on which a row begins, as editors count."""
        number = bisect_right(self.parts, row, key=lambda part: part[0]) - 1
        first, byte, length, line = self.parts[number]
        with open(self.path, "rb") as file:
            file.seek(byte)
            return line + line_of(file.read(length), self.separator, row - first + (number == 0))

    def _texts(self) -> Iterator[tuple[int, bytes]]:
        """Where each block begins, and its text: a line break inside quotes does not end a row."""
        rest = b""
        with open(self.path, "rb") as file:
            at = file.seek(len(_BOM) if file.read(len(_BOM)) == _BOM else 0)
            while block := file.read(_BLOCK):
                rest += block
                end = rest.rfind(b"\n") + 1
                odd = rest.count(b'"', 0, end) % 2
                while end and odd:
                    start = rest.rfind(b"\n", 0, end - 1) + 1
                    odd ^= rest.count(b'"', start, end) % 2
                    end = start
                if rest[:end].strip(b"\r\n"):
                    yield at, rest[:end]
                    at += end
                    rest = rest[end:]
                if len(rest) > _HEADER + _BLOCK:
                    raise PartsError(
                        f"{self.path}: a row of more than {_HEADER} bytes, or a quoted field that does not end"
                    )
        if rest.strip(b"\r\n"):
            yield at, rest

    def _parsed(self, text: bytes) -> pl.DataFrame:
        import polars as pl

        # every block has a header, as polars counts the columns of the first line: it may be empty or short
        whole = text if len(self.parts) == 1 else self.header + text
        try:
            return without_blank_lines(pl.read_csv(whole, schema=self.kinds, separator=self.separator))
        except pl.exceptions.PolarsError:  # words for missing values, or what does not belong in a column
            pass
        try:
            as_text = dict.fromkeys(self.kinds, pl.String)
            table = without_blank_lines(pl.read_csv(whole, schema=as_text, separator=self.separator))
        except pl.exceptions.PolarsError as error:
            what = what_is_wrong(text, self.separator, error, width=len(self.kinds), lines=self.parts[-1][3])
            raise DataError(f"{self.path}: {what}") from None
        return table.with_columns(
            self._cast(table[name], kind) for name, kind in self.kinds.items() if kind != pl.String
        )

    def _cast(self, column: pl.Series, kind: Any) -> pl.Series:
        """Text as numbers, or as true and false."""
        import polars as pl

        if kind == pl.Float64:
            left = without_words(column)
            values, what = left.cast(kind, strict=False), "a number"
        else:
            left, what = column, "true or false, like the rows before"
            values = column.str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
        odd = values.is_null() & left.is_not_null()
        if odd.any():
            row = odd.arg_max() or 0
            place = f"line {self.line(self.parts[-1][0] + row)}, column {column.name!r}"
            advice = ""
            if column.name in self.features:
                name = repr(column.name) if in_shell() else f"[{column.name!r}]"
                advice = f": correct it, or leave the column out with {parameter('drop', name)}"
            error = PartsError if column.name in self.unsure else DataError
            raise error(f"{self.path}: {place}: {column[row]!r:.60} is not {what}{advice}")
        return values.cast(kind)


def _slices(scan: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    n = scan.select(pl.len()).collect().item()
    for start in range(0, n, rows):
        yield scan.slice(start, rows).collect()


def _chunks(
    path: Any,
    tables: Iterable[pl.DataFrame],
    chosen: Columns,
    rows: int,
    locate: Callable[[int], str],
    text_ids: Sequence[str] = (),
) -> Iterator[RankingDataset]:
    """``locate`` says where in the file a row is; ``text_ids`` are the columns of ids that may be whole numbers."""
    seen: set[str] = set()
    words = {name: _Words() for name in text_ids}
    before = 0
    for number, table in enumerate(_whole_queries(tables, chosen.roles["qid"], rows)):
        if number == 0:
            log_columns(chosen, str(path))
        for name, known in words.items():
            known.add(table[name], before)
        try:
            data = RankingDataset.from_columns(whole_ids(table, text_ids), chosen)
        except CellError as error:
            where = locate(before + error.row)
            raise DataError(f"{path}: {where}, column {error.column!r}: {error.problem}") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        _refuse_seen(path, data, seen, before, locate)
        yield data
        before += table.height
    if before == 0:
        raise DataError(f"{path}: there are no rows")
    for name, known in words.items():
        if known.missing is not None:
            raise DataError(f"{path}: {locate(known.missing)}, column {name!r}: the id is missing")


class _Words:
    """Ids such as ``nan``, which are missing ones if all others of the file are whole numbers."""

    def __init__(self) -> None:
        #: First row of such a word; whether there are whole numbers and other texts.
        self.first: int | None = None
        self.numbers = self.texts = False

    def add(self, ids: pl.Series, before: int) -> None:
        """Look at the ids of some rows, with ``before`` rows before them."""
        word = ids.is_in(MISSING_NUMBERS).fill_null(False)
        if self.first is None and word.any():
            self.first = before + (word.arg_max() or 0)
        others = ids.filter(~word & (ids != ""))
        if others.len():
            whole = are_whole(others)
            self.numbers, self.texts = self.numbers or whole, self.texts or not whole

    @property
    def missing(self) -> int | None:
        """Row of the first missing id, after all rows."""
        return self.first if self.numbers and not self.texts else None


def _refuse_seen(path: Any, data: RankingDataset, seen: set[str], before: int, locate: Callable[[int], str]) -> None:
    """Remember the queries of a chunk, with ``before`` rows before it; an error where one returns after another."""
    qids = [str(qid) for qid in data.qids.tolist()]
    code = data.to_input_order(data.query_of_row)
    returns = np.flatnonzero(code[1:] < np.maximum.accumulate(code)[:-1]) + 1
    again = [int(data.offsets[i]) for i, qid in enumerate(qids) if qid in seen] if seen else []
    rows = sorted([*again, *returns[:1].tolist()])
    if rows:
        where, query = locate(before + rows[0]), qids[code[rows[0]]]
        raise PartsError(
            f"{path}: {where}: the rows of query {query!r} are not contiguous; sort the table by query, or read it as "
            "a whole"
        )
    seen.update(qids)


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
