"""TREC judgements (qrels) and runs: files, and the other forms in which people have them.

Inside the package judgements are a polars frame with the columns ``qid``, ``docid`` and ``label``, a run one with
``qid``, ``docid`` and ``score``; ids are strings. `as_qrels` and `as_run` make them from a path, a table with the
column names of ir-measures, PyTerrier or BEIR, a dict of dicts, or triples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import CellError, DataError
from plackett._files.compression import replacing_compressed
from plackett.data._bytes import bare_suffix
from plackett.data._qrels_columns import read_columns
from plackett.data._tables import as_polars, find_column, id_series, id_strings, is_table, missing_ids
from plackett.data._trec_lines import read_lines, refuse_repeats
from plackett.data.estimators import scores_of
from plackett.data.grouping import is_missing
from plackett.data.trec_tables import TABLES, is_table_file, name_ids, read_table_file, write_table_file

if TYPE_CHECKING:
    import polars as pl

    from plackett.data.dataset import RankingDataset

__all__ = ["read_qrels", "read_run", "run_frame", "write_qrels", "write_run"]

_KEY = ("qid", "docid")


def read_qrels(path: str | os.PathLike[str], *, columns: str | None = None) -> pl.DataFrame:
    r"""Read judgements from a qrels file, lines ``query iteration document label``, as columns ``qid, docid, label``.

    Fields are separated by any white space; blank lines and lines that begin with ``#`` are skipped; ``.gz``,
    ``.xz`` and ``.zst`` are decompressed. If a document is judged twice for a query, the error names the line. Tables
    (``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``) have the columns that `as_qrels` takes, and ids may contain blanks.

    Parameters
    ----------
    columns
        What the fields of a line are, for files in another order: ``query``, ``document``, ``label``, and ``-`` for a
        field to skip; fields after the last one named are skipped. Without ``label`` each line is a relevant document,
        as in SMART's collections, whose lines ``query document 0 0`` are ``columns="query document"``.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "qrels")
    >>> _ = path.write_text("301 0 FT-1 1\n301 0 FT-2 0\n")
    >>> read_qrels(path).rows()
    [('301', 'FT-1', 1.0), ('301', 'FT-2', 0.0)]
    """
    if columns is not None:
        return read_columns(path, columns)
    if is_table_file(path):
        return _of_table_file(path, "label", instead="score")
    return read_lines(
        path,
        "query iteration document label",
        {"qid": 0, "docid": 2, "label": 3},
        _KEY,
        otherwise="; if the file has other columns, name them: read_qrels(path, columns='query document'), or on the "
        "command line plackett convert FILE OUT --qrels-columns 'query document'",
    )


def read_run(path: str | os.PathLike[str]) -> pl.DataFrame:
    r"""Read a run from a TREC file, lines ``query Q0 document rank score tag``, as columns ``qid, docid, score``.

    The rank is ignored, as trec_eval does: documents are ordered by score. The tag may be missing, and anything may
    follow it. Queries with blanks need a table with a score per query and document. For the rest see `read_qrels`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run")
    >>> _ = path.write_text("301 Q0 FT-1 1 2.5 bm25\n")
    >>> read_run(path).rows()
    [('301', 'FT-1', 2.5)]
    """
    if is_table_file(path):
        return _of_table_file(path, "score")
    return read_lines(path, "query Q0 document rank score tag", {"qid": 0, "docid": 2, "score": 4}, _KEY, more=True)


def _of_table_file(path: str | os.PathLike[str], value: str, instead: str | None = None) -> pl.DataFrame:
    """Runs or judgements of a file with named columns."""
    table, locate = read_table_file(path, value, instead)
    try:
        return _as_frame(name_ids(table), value, None, instead, locate)
    except CellError as error:
        raise DataError(f"{path}: {locate(error.row)}, column {error.column!r}: {error.problem}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def as_qrels(source: Any) -> pl.DataFrame:
    """Convert judgements in any form to a frame with the columns ``qid, docid, label``.

    Parameters
    ----------
    source
        Path of a qrels file or of a table; table in memory (pandas, polars, Arrow); dict of dicts
        ``{qid: {docid: label}}``; or triples ``(query_id, doc_id, relevance)``. Tables have the columns of ir-measures
        (``query_id, doc_id, relevance``), PyTerrier (``qid, docno, label``) or BEIR (``query-id, corpus-id, score``).

    Examples
    --------
    >>> as_qrels({"q1": {"d1": 1, "d2": 0}}).rows()
    [('q1', 'd1', 1.0), ('q1', 'd2', 0.0)]
    """
    return _as_frame(source, "label", read_qrels, instead="score")


def as_run(source: Any) -> pl.DataFrame:
    """Convert a run in any form to a frame with the columns ``qid, docid, score``; the forms are those of `as_qrels`.

    >>> as_run([("q1", "d1", 2.5), ("q1", "d2", 1)]).rows()
    [('q1', 'd1', 2.5), ('q1', 'd2', 1.0)]
    """
    return _as_frame(source, "score", read_run)


def _as_frame(
    source: Any, value: str, reader: Any, instead: str | None = None, locate: Callable[[int], str] = "row {}".format
) -> pl.DataFrame:
    import polars as pl

    if isinstance(source, (str, os.PathLike)):
        return reader(source)
    if is_table(source):
        table = as_polars(source)
        column = find_column(table, value, needed=instead is None or instead not in table.columns) or instead
        names = {name: find_column(table, name) for name in _KEY} | {value: column}
        table = table.select(**{name: pl.col(str(source_name)) for name, source_name in names.items()})
    elif isinstance(source, Mapping):
        table = _of_dicts(source, value)
    elif isinstance(source, Iterable):
        table = _of_triples(source, value)
    else:
        raise DataError(f"a path, table, dict of dicts or triples were expected, not {type(source).__name__}")
    return checked(table, value, _KEY, locate)


def _of_dicts(source: Mapping[Any, Any], value: str) -> pl.DataFrame:
    import polars as pl

    for qid, documents in source.items():
        if not isinstance(documents, Mapping):
            raise DataError(f"query {qid!r}: a dict {{docid: {value}}} was expected, not {type(documents).__name__}")
    columns = {
        "qid": [_text(qid) for qid, documents in source.items() for _ in documents],
        "docid": [_text(docid) for documents in source.values() for docid in documents],
        value: [number for documents in source.values() for number in documents.values()],
    }
    return pl.DataFrame(columns, schema={"qid": pl.String, "docid": pl.String, value: pl.Float64}, strict=False)


def _text(given: Any) -> str | None:
    """An id as text; None where there is none, which `checked` refuses."""
    return given if isinstance(given, str) else None if is_missing(given) else str(given)


def _of_triples(source: Iterable[Any], value: str) -> pl.DataFrame:
    import polars as pl

    rows = list(source)
    try:
        columns = {
            "qid": [_text(row[0]) for row in rows],
            "docid": [_text(row[1]) for row in rows],
            value: [row[2] for row in rows],
        }
    except (TypeError, IndexError, KeyError):
        raise DataError(f"triples (query_id, doc_id, {value}) were expected, found {rows[0]!r} first") from None
    return pl.DataFrame(columns, schema={"qid": pl.String, "docid": pl.String, value: pl.Float64}, strict=False)


def checked(
    table: pl.DataFrame, value: str, key: tuple[str, ...], locate: Callable[[int], str] = "row {}".format
) -> pl.DataFrame:
    """Table with ids as strings and numbers as float64; nothing missing, no key twice."""
    import polars as pl

    if not (table.schema[value].is_numeric() or table.schema[value] == pl.Boolean):
        raise DataError(f"the {value} must be a number, found {table.schema[value]}")
    table = table.with_columns(*(id_strings(table[name]) for name in key), pl.col(value).cast(pl.Float64))
    missing = table[value].is_null() | table[value].is_nan()
    if missing.any():
        row = missing.arg_max() or 0
        key_text = ", ".join(f"{name} {table[name][row]!r}" for name in key)
        raise DataError(f"{locate(row)} ({key_text}): the {value} is missing or not a number")
    refuse_repeats(table, key, locate)
    return table


def qrels_frame(data: RankingDataset) -> pl.DataFrame:
    """Judgements of a dataset; documents without ids are named by row number. Unjudged ones are left out.

    >>> from plackett import RankingDataset
    >>> qrels_frame(RankingDataset.from_arrays(None, [2, -1], qid=["a", "a"])).rows()
    [('a', '0', 2.0)]
    """
    import polars as pl

    return _rows_of(data, "label", data.labels).filter(pl.col("label") >= 0)


def run_frame(data: RankingDataset, scores: Any) -> pl.DataFrame:
    """Make a run from a fitted ranker or the scores of a dataset's rows; documents without ids are named by row number.

    >>> from plackett import RankingDataset
    >>> run_frame(RankingDataset.from_arrays(None, [2], qid=["a"], docids=["x"]), [0.5]).rows()
    [('a', 'x', 0.5)]
    """
    return _rows_of(data, "score", scores_of(data, scores))


def _rows_of(data: RankingDataset, value: str, numbers: np.ndarray) -> pl.DataFrame:
    import polars as pl

    if numbers.shape != (data.n_rows,):
        raise DataError(f"{value}s have shape {numbers.shape}, but the dataset has {data.n_rows} rows")
    docids = np.arange(data.n_rows) if data.docids is None else data.docids
    qids = id_series("qid", data.qids).gather(pl.Series(data.query_of_row))
    return checked(pl.DataFrame([qids, id_series("docid", docids), pl.Series(value, numbers)]), value, _KEY)


def write_qrels(qrels: Any, path: str | os.PathLike[str]) -> None:
    """Write judgements (any form that `as_qrels` takes) to a qrels file or a table; the suffix may ask to compress."""
    import polars as pl

    frame = as_qrels(qrels)
    if bare_suffix(path) in TABLES:
        write_table_file(frame, path)
        return
    write_lines(frame.select("qid", pl.lit("0").alias("iteration"), "docid", number_text("label")), path)


def write_run(run: Any, path: str | os.PathLike[str], *, tag: str = "plackett") -> None:
    """Write a run (any form that `as_run` takes; see `run_frame`) to a TREC file, compressed if the suffix says so.

    Ids with blanks do not fit into a TREC file: ``.csv``, ``.parquet`` and ``.jsonl`` are tables with the columns
    ``qid, docid, score``, which `read_run` reads too.
    Queries keep their order; the documents of each are written by descending score, ties by descending
    document id, the order in which trec_eval ranks them. Scores are read back exactly.
    """
    import polars as pl

    frame = as_run(run)
    queries = frame.select(pl.col("qid").unique(maintain_order=True)).with_row_index("query")
    frame = frame.join(queries, on="qid", how="left", maintain_order="left")
    frame = frame.sort("query", "score", "docid", descending=[False, True, True])
    if bare_suffix(path) in TABLES:
        write_table_file(frame.select("qid", "docid", "score"), path)
        return
    rank = pl.int_range(pl.len()).over("query") + 1
    frame = frame.with_columns(Q0=pl.lit("Q0"), rank=rank, tag=pl.lit(tag))
    write_lines(frame.select("qid", "Q0", "docid", "rank", "score", "tag"), path)


def number_text(column: str) -> pl.Expr:
    """Whole numbers without a decimal point, as trec_eval expects labels."""
    import polars as pl

    value = pl.col(column)
    whole = value.cast(pl.Int64, strict=False)
    return pl.when(whole.cast(pl.Float64) == value).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))


def write_lines(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write columns as lines of fields separated by a space; an id with white space raises an error."""
    import polars as pl

    for name in (name for name, dtype in frame.schema.items() if dtype == pl.String):
        bad = frame[name].str.contains(r"\s") | missing_ids(frame[name])
        if bad.any():
            raise DataError(
                f"{path}: {name} {frame[name][bad.arg_max() or 0]!r} has white space in it, is empty or would be read "
                "as a missing one; write a table instead (.csv, .parquet)"
            )
    if frame.height and frame[frame.columns[0]].str.starts_with("#").any():
        raise DataError(f"{path}: a {frame.columns[0]} begins with '#', which would make its lines comments")
    with replacing_compressed(path) as file:
        frame.write_csv(file, separator=" ", include_header=False, quote_style="never")
