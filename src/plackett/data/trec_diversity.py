"""Judgements by subtopic, as in the diversity task of the TREC Web track."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett.data._tables import as_polars, find_column, is_table
from plackett.data._trec_lines import read_lines
from plackett.data.trec import checked, number_text, write_lines

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_diversity_qrels", "write_diversity_qrels"]

_KEY = ("qid", "subtopic", "docid")


def read_diversity_qrels(path: str | os.PathLike[str]) -> pl.DataFrame:
    r"""Read judgements by subtopic from a file with lines ``topic subtopic document judgement``.

    A topic is a query with several subtopics (things that its users may mean); each judgement says whether a
    document is relevant to one of them. The columns are ``qid, subtopic, docid, label``; ids are strings. White
    space, comments and compression are as in `plackett.data.trec.read_qrels`. `plackett.data.trec_join.join_run`
    turns it into the table of documents and subtopics that diversity measures (α-nDCG, intent-aware measures) use.

    References
    ----------
    Clarke, Craswell, Soboroff: Overview of the TREC 2009 Web track. 2009.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "qrels")
    >>> _ = path.write_text("1 1 d1 1\n1 2 d1 0\n")
    >>> read_diversity_qrels(path).rows()
    [('1', '1', 'd1', 1.0), ('1', '2', 'd1', 0.0)]
    """
    columns = {"qid": 0, "subtopic": 1, "docid": 2, "label": 3}
    return read_lines(path, "topic subtopic document judgement", columns, _KEY)


def as_diversity_qrels(source: Any) -> pl.DataFrame:
    """Convert judgements by subtopic in any form to a frame with the columns ``qid, subtopic, docid, label``.

    Parameters
    ----------
    source
        Path; table whose column of subtopics is called ``subtopic`` or, as in ir-measures, ``iteration``; rows
        ``(qid, subtopic, docid, label)``; or ir-measures' ``Qrel`` tuples.

    Examples
    --------
    >>> as_diversity_qrels([(1, "a", "d1", 1)]).rows()
    [('1', 'a', 'd1', 1.0)]
    """
    import polars as pl

    if isinstance(source, (str, os.PathLike)):
        return read_diversity_qrels(source)
    if is_table(source):
        table = as_polars(source)
        names = {role: find_column(table, role) for role in (*_KEY, "label")}
        return checked(table.select(**{role: pl.col(str(name)) for role, name in names.items()}), "label", _KEY)
    if not isinstance(source, Iterable):
        raise DataError(f"a path, a table or rows were expected, not {type(source).__name__}")
    rows = [(r.query_id, r.iteration, r.doc_id, r.relevance) if hasattr(r, "iteration") else r for r in source]
    if rows and any(not isinstance(row, (tuple, list)) or len(row) != 4 for row in rows):
        raise DataError(f"rows (qid, subtopic, docid, label) were expected, found {rows[0]!r} first")
    qid, subtopic, docid, label = ([row[i] for row in rows] for i in range(4))
    columns = {"qid": map(str, qid), "subtopic": map(str, subtopic), "docid": map(str, docid)}
    table = pl.DataFrame(
        {**{name: pl.Series(list(values), dtype=pl.String) for name, values in columns.items()}, "label": label},
        schema_overrides={"label": pl.Float64},
        strict=False,
    )
    return checked(table, "label", _KEY)


def write_diversity_qrels(qrels: Any, path: str | os.PathLike[str]) -> None:
    """Write judgements by subtopic (any form that `as_diversity_qrels` takes), compressed if the suffix says so."""
    write_lines(as_diversity_qrels(qrels).select(*_KEY, number_text("label")), path)
