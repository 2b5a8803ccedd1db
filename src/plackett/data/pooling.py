"""Pooling: which documents to judge, from the tops of several runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.data.trec import as_run

if TYPE_CHECKING:
    import polars as pl

__all__ = ["pool"]


def pool(runs: Sequence[Any], depth: int = 100) -> pl.DataFrame:
    """Pool documents to judge: for each query, the union of the first ``depth`` documents of every run.

    Documents outside the pool stay unjudged. Documents of a run are ranked by descending score, and equal scores
    by descending document id, as trec_eval does.

    Parameters
    ----------
    runs
        The runs, each in one of the forms of `plackett.data.trec.as_run`: path of a TREC file, table, dict of dicts
        ``{qid: {docid: score}}`` or triples.
    depth
        How many documents to take from each run and query.

    Returns
    -------
    Frame with the columns ``qid``, ``docid`` and ``n_runs``, the number of runs that brought the document into the
    pool, sorted by query and document.

    Examples
    --------
    >>> a = {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}
    >>> b = {"q": {"y": 9.0, "w": 5.0, "x": 1.0}}
    >>> pool([a, b], depth=2).rows()
    [('q', 'w', 1), ('q', 'x', 1), ('q', 'y', 2)]

    References
    ----------
    Harman: Overview of the first TREC conference. SIGIR 1993.
    """
    import polars as pl

    whole("depth", depth, least=1)
    if isinstance(runs, (str, os.PathLike, Mapping)) or not isinstance(runs, Sequence):
        raise DataError("runs must be a list of runs; put a single run in a list")
    if not runs:
        raise DataError("there are no runs to pool")
    return (
        pl.concat(_top(run, depth, f"runs[{i}]") for i, run in enumerate(runs))
        .group_by("qid", "docid")
        .agg(n_runs=pl.len().cast(pl.Int64))
        .sort("qid", "docid")
    )


def _top(run: Any, depth: int, name: str) -> pl.DataFrame:
    try:
        table = as_run(run)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    ranked = table.sort("score", "docid", descending=True)
    return ranked.group_by("qid", maintain_order=True).head(depth).select("qid", "docid")
