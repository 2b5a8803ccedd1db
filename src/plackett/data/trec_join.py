"""Judgements joined with a run, the input of evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data._tables import id_array
from plackett.data.dataset import RankingDataset
from plackett.data.trec import as_qrels, as_run
from plackett.data.trec_diversity import as_diversity_qrels

if TYPE_CHECKING:
    import polars as pl

__all__ = ["join_run"]

#: Label of a document of the run without a judgement; -1, which judgements may hold, is "pooled but not judged".
NOT_POOLED = -2.0


@dataclass(frozen=True, eq=False)
class JoinedRun:
    """A run joined with its judgements.

    Attributes
    ----------
    data
        For each query the documents of the run, in the order of the run, then those that were judged but not
        retrieved. Labels are those of the judgements; a document of the run without one has -2. No features.
    scores
        Score of each row, float64, minus infinity if not retrieved.
    retrieved
        Whether each row was in the run.
    missing
        Ids of the judged queries that the run lacks: part of ``data`` if ``complete``, otherwise left out.
    unjudged
        Ids of the queries of the run without any judgement, which are left out.
    """

    data: RankingDataset
    scores: np.ndarray
    retrieved: np.ndarray
    missing: np.ndarray
    unjudged: np.ndarray


def join_run(qrels: Any, run: Any, *, complete: bool = True, subtopics: bool = False) -> JoinedRun:
    """Join judgements and a run by query and document.

    Parameters
    ----------
    qrels
        Judgements in any form that `plackett.data.trec.as_qrels` takes.
    run
        Run in any form that `plackett.data.trec.as_run` takes.
    complete
        Whether judged queries that the run lacks are kept, with all their documents not retrieved (``trec_eval
        -c``); otherwise only queries that are in both are (trec_eval's default). `JoinedRun.missing` names them.
    subtopics
        Whether the judgements are by subtopic, in a form that
        `plackett.data.trec_diversity.as_diversity_qrels` takes. A document's label is then its best one, and
        ``data.subtopics`` has its relevance to each subtopic of the query in the order of the subtopics' names:
        0 where not judged or below 0, NaN after the last subtopic of the query.

    Examples
    --------
    >>> joined = join_run({"q": {"a": 1, "b": 2}}, {"q": {"c": 3.5, "a": 1.5}, "r": {"a": 1}})
    >>> joined.data.docids.tolist(), joined.data.y.tolist()
    (['c', 'a', 'b'], [-2.0, 1.0, 2.0])
    >>> joined.scores.tolist(), joined.unjudged.tolist()
    ([3.5, 1.5, -inf], ['r'])
    """
    import polars as pl

    entries = as_diversity_qrels(qrels) if subtopics else as_qrels(qrels)
    run_rows = as_run(run)
    judged = entries.select(pl.col("qid").unique(maintain_order=True))
    in_run = run_rows.select(pl.col("qid").unique(maintain_order=True))
    missing = judged.join(in_run, on="qid", how="anti", maintain_order="left")
    unjudged = in_run.join(judged, on="qid", how="anti", maintain_order="left")
    if not complete:
        judged = judged.join(in_run, on="qid", how="semi", maintain_order="left")
    queries = judged.with_row_index("query")

    entries = entries.join(queries, on="qid", maintain_order="left").drop("qid")
    best = entries.group_by("query", "docid", maintain_order=True).agg(pl.col("label").max()) if subtopics else entries
    run_rows = run_rows.join(queries, on="qid", maintain_order="left").drop("qid")
    # in the order of the run, then in that of the judgements; the stable sort only brings queries together
    rows = run_rows.join(best, on=["query", "docid"], how="full", coalesce=True, maintain_order="left_right")
    rows = rows.sort("query", maintain_order=True)
    retrieved = rows["score"].is_not_null()
    sizes = np.bincount(rows["query"].to_numpy(), minlength=queries.height)
    data = RankingDataset(
        X=np.empty((rows.height, 0), np.float32),
        y=rows["label"].fill_null(NOT_POOLED).to_numpy(),
        offsets=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        qids=id_array(queries["qid"]),
        docids=id_array(rows["docid"]),
        subtopics=_subtopics(entries, rows, sizes) if subtopics else None,
    )
    return JoinedRun(
        data=data,
        scores=rows["score"].fill_null(float("-inf")).to_numpy(),
        retrieved=retrieved.to_numpy(),
        missing=id_array(missing["qid"]),
        unjudged=id_array(unjudged["qid"]),
    )


def _subtopics(entries: pl.DataFrame, rows: pl.DataFrame, sizes: np.ndarray) -> np.ndarray:
    """Relevance of each row to each subtopic of its query."""
    import polars as pl

    number = (pl.col("subtopic").rank("dense").over("query") - 1).cast(pl.Int64)
    entries = entries.with_columns(number.alias("subtopic"))
    counts = np.zeros(sizes.size, np.int64)
    np.maximum.at(counts, entries["query"].to_numpy(), entries["subtopic"].to_numpy() + 1)
    table = np.zeros((rows.height, counts.max(initial=0)), np.float32)
    table[np.arange(table.shape[1]) >= np.repeat(counts, sizes)[:, None]] = np.nan
    judged_rows = entries.join(rows.select("query", "docid").with_row_index("row"), on=["query", "docid"])
    table[judged_rows["row"].to_numpy(), judged_rows["subtopic"].to_numpy()] = judged_rows["label"].clip(0).to_numpy()
    return table
