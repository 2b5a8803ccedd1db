"""Measures of runs from a sample of judgements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data._tables import as_polars, id_strings, is_table
from plackett.data.trec import as_qrels
from plackett.data.trec_join import join_run
from plackett.evaluation.evaluate import Evaluation, measure_scored
from plackett.measures.language import parse_all
from plackett.measures.ranking import Scored
from plackett.selection.result import Selection

if TYPE_CHECKING:
    import polars as pl

__all__ = ["evaluate_sample"]

_KEY = ["qid", "docid"]


def evaluate_sample(
    judged: Any,
    run: Any,
    sample: Any,
    measures: Sequence[Any] = ("statAP", "xinfAP"),
    *,
    random_state: int = 0,
) -> Evaluation:
    """Measure a run with the judgements of a sample, each weighted by one over its inclusion probability.

    Parameters
    ----------
    judged
        All judgements, in a form that `plackett.data.trec.as_qrels` takes. Those of documents that the sample did not
        have to choose from were made earlier, and count with probability 1.
    run
        The run, in a form that `plackett.data.trec.as_run` takes.
    sample
        `Selection` of `UniformPool`, `APPriorPool` or `DepthPool`, or a table with the columns ``qid``, ``docid``
        and ``inclusion`` of every document that could have been drawn.
    measures
        Such as ``statAP`` and ``xinfAP``. Measures that do not use probabilities treat the sample as if it were
        everything.

    Examples
    --------
    >>> from plackett.selection import UniformPool
    >>> run = {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}
    >>> truth = {"a": 1, "b": 0, "c": 1, "d": 0}
    >>> sample = UniformPool().select([run], budget=2, random_state=1)
    >>> labels = {"q": {d: truth[d] for d in sample.frame["docid"]}}
    >>> sorted(evaluate_sample(labels, run, sample).mean)
    ['statAP', 'xinfAP']
    """
    import polars as pl

    frame = _frame(sample)
    known = as_qrels(judged).filter(pl.col("label") >= 0)
    open_ = frame.filter(pl.col("inclusion") > 0).join(known, on=_KEY, how="anti")
    qrels = pl.concat([known, open_.select(*_KEY, label=pl.lit(-1.0))])
    joined = join_run(qrels, run)
    data = joined.data
    rows = pl.DataFrame({"qid": data.qids[data.query_of_row].tolist(), "docid": data.docids.tolist()})  # type: ignore[union-attr]
    rows = rows.with_columns(id_strings(rows["qid"]), id_strings(rows["docid"]))
    chance = rows.join(frame, on=_KEY, how="left", maintain_order="left")["inclusion"].fill_null(1.0).to_numpy()
    judged_anyway = (data.labels >= 0) & (chance <= 0)
    if judged_anyway.any():
        row = int(np.flatnonzero(judged_anyway)[0])
        raise DataError(f"query {rows['qid'][row]}, document {rows['docid'][row]}: judged, but its inclusion is 0")
    weighted = data.replace(sample_weight=1.0 / np.where(chance > 0, chance, 1.0))
    scored = Scored(weighted, joined.scores, joined.retrieved, random_state=random_state)
    return measure_scored(scored, parse_all(measures), None)


def _frame(sample: Any) -> pl.DataFrame:
    import polars as pl

    if isinstance(sample, Selection):
        frame, what = sample.frame_of_candidates, f"a pool by {sample.method!r}"
    elif is_table(sample):
        frame, what = as_polars(sample), "the sample"
    else:
        raise DataError(f"a Selection or a table was expected, not {type(sample).__name__}")
    for name in (*_KEY, "inclusion"):
        if name not in frame.columns:
            raise DataError(f"the sample has no column {name!r}; it has {', '.join(frame.columns)}")
    frame = frame.select(id_strings(frame["qid"]), id_strings(frame["docid"]), pl.col("inclusion").cast(pl.Float64))
    if frame["inclusion"].null_count():
        raise DataError(f"{what} has no inclusion probabilities, so nothing can be estimated from it")
    bad = frame.filter((pl.col("inclusion") < 0) | (pl.col("inclusion") > 1) | pl.col("inclusion").is_nan())
    if bad.height:
        raise DataError(f"document {bad['docid'][0]!r} of query {bad['qid'][0]!r}: inclusion {bad['inclusion'][0]}")
    return frame
