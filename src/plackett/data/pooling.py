"""Pooling: which documents to judge, from the tops of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plackett._errors import DataError
from plackett._provenance import fulfils

if TYPE_CHECKING:
    import polars as pl

__all__ = ["pool"]

#: What the columns of a run are called, ours first, then those of other tools.
_COLUMNS = {
    "qid": ("qid", "query_id", "q_id", "query"),
    "docid": ("docid", "doc_id", "docno", "doc"),
    "score": ("score",),
}


@fulfils("data.pooling", paper="Harman 1993")
def pool(runs: Sequence[Any], depth: int = 100) -> pl.DataFrame:
    """Documents to judge: for each query the union of the first ``depth`` documents of every run.

    Whatever is outside the pool stays unjudged. Documents of a run are ranked by descending score, and equal scores
    by descending document id, as trec_eval does.

    Parameters
    ----------
    runs
        The runs. Each is a frame (polars, pandas or Arrow) with the columns ``qid``, ``docid`` and ``score``, or a
        dict from query id to a dict from document id to score, or to a list of document ids from the top down.
    depth
        How many documents of each run and query are taken.

    Returns
    -------
    Frame with the columns ``qid``, ``docid`` and ``n_runs``, the number of runs that brought the document into the
    pool, sorted by query and document.

    Examples
    --------
    >>> a = {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}
    >>> b = {"q": ["y", "w", "x"]}
    >>> pool([a, b], depth=2)["docid"].to_list()
    ['w', 'x', 'y']

    References
    ----------
    Harman: Overview of the first TREC conference. SIGIR 1993.
    """
    import polars as pl

    if depth < 1:
        raise DataError(f"depth must be 1 or more, got {depth}")
    if isinstance(runs, (str, Mapping)) or not isinstance(runs, Sequence):
        raise DataError("runs must be a list of runs; a single run goes into a list of one")
    tables = [_table(run, f"runs[{i}]") for i, run in enumerate(runs)]
    if not tables:
        raise DataError("there are no runs to pool")
    for name in ("qid", "docid"):
        if any(not table.schema[name].is_integer() for table in tables):
            tables = [table.with_columns(pl.col(name).cast(pl.String)) for table in tables]
    return (
        pl.concat(
            table.sort("score", "docid", descending=True).group_by("qid", maintain_order=True).head(depth)
            for table in tables
        )
        .group_by("qid", "docid")
        .agg(n_runs=pl.len().cast(pl.Int64))
        .sort("qid", "docid")
    )


def _table(run: Any, name: str) -> pl.DataFrame:
    import polars as pl

    if isinstance(run, Mapping):
        table = _table_of_dict(run)
    elif isinstance(run, pl.DataFrame):
        table = run
    elif hasattr(run, "columns") or hasattr(run, "column_names"):
        columns = {str(column): run[column].to_numpy() for column in _names(run)}
        table = pl.DataFrame(columns)
    else:
        raise DataError(f"{name} is a {type(run).__name__}; a run is a frame or a dict of dicts")
    found = {}
    for column, aliases in _COLUMNS.items():
        present = [alias for alias in aliases if alias in table.columns]
        if not present:
            raise DataError(f"{name} has no column {column!r}; its columns are {', '.join(table.columns)}")
        found[column] = pl.col(present[0])
    table = table.select(**found)
    twice = table.filter(table.select("qid", "docid").is_duplicated())
    if twice.height:
        raise DataError(f"{name} has document {twice['docid'][0]} of query {twice['qid'][0]} more than once")
    return table


def _names(frame: Any) -> list[Any]:
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _table_of_dict(run: Mapping[Any, Any]) -> pl.DataFrame:
    import polars as pl

    qid: list[Any] = []
    docid: list[Any] = []
    score: list[float] = []
    for query, documents in run.items():
        qid.extend([query] * len(documents))
        docid.extend(documents)
        score.extend(documents.values() if isinstance(documents, Mapping) else range(len(documents), 0, -1))
    kinds = {"qid": pl.String if not qid or isinstance(qid[0], str) else pl.Int64}
    kinds["docid"] = pl.String if not docid or isinstance(docid[0], str) else pl.Int64
    return pl.DataFrame({"qid": qid, "docid": docid, "score": score}, {**kinds, "score": pl.Float64}, strict=False)
