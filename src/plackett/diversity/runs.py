"""Diversify a TREC run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data._tables import id_array
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.data.side_files import read_pairs
from plackett.data.trec import as_run
from plackett.data.trec_diversity import as_diversity_qrels
from plackett.diversity.named import find_reranker
from plackett.diversity.reranker import Reranker

if TYPE_CHECKING:
    import polars as pl

__all__ = ["diversify"]


def diversify(
    run: Any,
    method: str | Reranker = "MMR",
    *,
    aspects: Any = None,
    similarity: Any = None,
    vectors: RankingDataset | None = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> pl.DataFrame:
    """Reorder the top of each list of a run so that it serves several readings of its query.

    Parameters
    ----------
    run
        The run in any form that `plackett.data.trec.as_run` takes; its columns are ``qid, docid, score``.
    method
        Name or object; ``plackett.diversity()`` lists them all.
    aspects
        For `IASelect`: how well documents serve the aspects of their query, as a table ``qid, subtopic, docid, label``
        or a path to lines ``query aspect document value``, with values from 0 to 1. Missing values are 0. The aspects
        are estimates, not the judgements that the result is measured by.
    similarity
        For the other methods: a table ``qid, docid, other, weight`` or a path to lines ``query document document
        [value]`` as in `plackett.read_relation`, with values from 0 to 1; one direction is enough. Missing values are
        0.
    vectors
        Instead of ``similarity``: a dataset with document ids, whose features are compared by their cosine. A document
        that is missing there for the query of the run is looked up by its id alone.
    parameters
        Parameters of the method, such as ``k=10``.

    Returns
    -------
    The run with new scores: the first of m documents of a query has m, the next m − 1, ….

    Examples
    --------
    >>> run = {"q": {"a": 3.0, "b": 2.9, "c": 2.0}}
    >>> alike = [("q", "a", "b", 1.0), ("q", "b", "a", 1.0)]
    >>> diversify(run, "MMR", similarity=alike, trade_off=0.5).sort("score", descending=True)["docid"].to_list()
    ['a', 'c', 'b']
    """
    import polars as pl

    chosen = find_reranker(method, **parameters)
    frame = as_run(run)
    data = RankingDataset.from_arrays(None, None, id_array(frame["qid"]), docids=id_array(frame["docid"]))
    given: dict[str, Any] = {}
    if aspects is not None:
        given["aspects"], given["aspect_weight"] = _aspects(data, as_diversity_qrels(aspects))
    if similarity is not None and vectors is not None:
        raise DataError("similarity and vectors say the same thing; give one of them")
    if similarity is not None:
        given["similarity"] = _similarity(data, read_similarities(similarity))
    if vectors is not None:
        given["similarity"] = _vectors(data, vectors)
    if chosen.needs_similarity and "similarity" not in given:
        raise DataError(f"{type(chosen).__name__} needs to know which documents are alike: give similarity or vectors")
    scores = data.from_input_order(frame["score"].to_numpy())
    new = chosen.rerank(data, scores, n_jobs=n_jobs, **given)
    return frame.with_columns(pl.Series("score", data.to_input_order(new)))


def read_similarities(source: Any) -> pl.DataFrame:
    """Similarities as a frame ``qid, docid, other, weight``, from a path, a table or rows."""
    import polars as pl

    names = ("qid", "docid", "other", "weight")
    if isinstance(source, (str, os.PathLike)):
        return read_pairs(source)
    frame = source if isinstance(source, pl.DataFrame) else pl.DataFrame(source, schema=list(names), orient="row")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"similarities have no column {missing[0]!r}; the columns are {', '.join(frame.columns)}")
    try:
        return frame.select(*(pl.col(name).cast(pl.String) for name in names[:3]), pl.col("weight").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"similarities must be ids and numbers: {error}") from None


def _rows(data: RankingDataset) -> pl.DataFrame:
    import polars as pl

    text = np.dtypes.StringDType()
    return pl.DataFrame(
        {"qid": data.qid.astype(text).tolist(), "docid": np.asarray(data.docids).astype(text).tolist()}
    ).with_row_index("row")


def _aspects(data: RankingDataset, given: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Tables of the rows and of the queries; queries with fewer aspects have 0 in the last columns."""
    import polars as pl

    known = given.select(pl.col("qid").cast(pl.String), pl.col("subtopic").cast(pl.String)).unique()
    known = known.sort("qid", "subtopic").with_columns(pl.int_range(pl.len()).over("qid").alias("column"))
    width = int(known["column"].max() or 0) + 1 if known.height else 0  # type: ignore[arg-type]
    table, weight = np.zeros((data.n_rows, width)), np.zeros((data.n_queries, width))
    rows = _rows(data)
    judged = (
        given.with_columns(pl.col("qid", "subtopic", "docid").cast(pl.String))
        .join(known, on=["qid", "subtopic"])
        .join(rows, on=["qid", "docid"])
    )
    table[judged["row"].to_numpy(), judged["column"].to_numpy()] = judged["label"].to_numpy()
    counts = dict(known.group_by("qid").len().rows())
    for number, qid in enumerate(data.qids.astype(np.dtypes.StringDType()).tolist()):
        size = counts.get(qid, 0)
        weight[number, :size] = 1.0 / size if size else 0.0
    return table, weight


def _similarity(data: RankingDataset, given: pl.DataFrame) -> Relation:
    rows = _rows(data)
    other = rows.rename({"docid": "other", "row": "other_row"})
    joined = given.join(rows, on=["qid", "docid"]).join(other, on=["qid", "other"])
    if given.height and not joined.height:
        raise DataError(
            "similarity: none of its pairs are documents of the run; are its columns query, document, document?"
        )
    return Relation(joined["row"].to_numpy(), joined["other_row"].to_numpy(), joined["weight"].to_numpy())


def _vectors(data: RankingDataset, vectors: RankingDataset) -> np.ndarray:
    if vectors.docids is None:
        raise DataError("vectors: the dataset has no document ids")
    import polars as pl

    known = _rows(vectors).rename({"row": "source"}).unique(["qid", "docid"], keep="first", maintain_order=True)
    joined = _rows(data).join(known, on=["qid", "docid"], how="left").sort("row")
    if joined["source"].null_count():  # a document has the same vector for every query
        alone = known.unique("docid", keep="first", maintain_order=True).select(
            "docid", pl.col("source").alias("alone")
        )
        joined = joined.join(alone, on="docid", how="left").with_columns(pl.coalesce("source", "alone").alias("source"))
        joined = joined.sort("row")
    missing = joined.filter(joined["source"].is_null())
    if missing.height:
        raise DataError(
            f"vectors: {missing.height} of {data.n_rows} documents of the run are not in the dataset, the first is "
            f"{missing['docid'][0]!r} of query {missing['qid'][0]!r}"
        )
    return vectors.dense()[joined["source"].to_numpy()]
