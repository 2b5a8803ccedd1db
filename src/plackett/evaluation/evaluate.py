"""Evaluation of scores: one number per query and measure, then the mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError, PlackettWarning, in_shell
from plackett._names.nearest import plural
from plackett.data.added import added_rows
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import predict, scores_of
from plackett.data.validation import unmasked
from plackett.evaluation.tables import Renderable, Table
from plackett.measures.base import Measure
from plackett.measures.blocks import measured
from plackett.measures.doubts import every_document_relevant, measure_doubts
from plackett.measures.language import parse_all
from plackett.measures.presets import with_preset
from plackett.measures.ranking import Scored

if TYPE_CHECKING:
    import polars as pl

__all__ = ["evaluate"]

#: Longer lists of plain labels without queries are warned about.
_LONG_LIST = 100
#: Queries given twice.
OWN_QUERIES = "qid and group go with plain labels; a RankingDataset already has its queries"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Renderable):
    """Result of `evaluate`; ``print(result)`` shows the means, and `to_markdown`, `to_latex`, … render them.

    Attributes
    ----------
    measures
        The measures by the names you passed.
    qids
        The queries, in the order of the dataset.
    values
        One array per measure, one number per query; NaN is a query that the measure skipped.
    doubts
        By measure: why it says nothing about the ranking with these labels
        (`plackett.measures.doubts.measure_doubts`); empty if there is nothing to doubt.
    """

    measures: dict[str, Measure]
    qids: np.ndarray
    values: dict[str, np.ndarray]
    doubts: dict[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def mean(self) -> dict[str, float]:
        """Mean over queries of each measure."""
        return {name: measure.mean(self.values[name]) for name, measure in self.measures.items()}

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per query: ``qid`` and a column per measure; null is a query that the measure skipped."""
        import polars as pl

        ids = self.qids.tolist() if self.qids.dtype.kind == "T" else self.qids
        return pl.DataFrame({"qid": ids} | self.values).with_columns(
            pl.col(list(self.values)).fill_nan(None)  # NaN marks a skipped query
        )

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"Evaluation({plural(self.qids.size, 'query', 'queries', form='')}: {means})"

    def _layout(self, *, digits: int = 4) -> Table:  # type: ignore[override]
        rows = tuple((name, f"{value:.{digits}f}") for name, value in self.mean.items())
        notes = (
            f"{plural(self.qids.size, 'query', 'queries')}.",
            *(f"Beware: {doubt}" for doubt in self.doubts.values()),
        )
        return Table.of(("measure", "mean"), rows, notes=notes)

    def _frame(self) -> pl.DataFrame:
        return self.per_query

    def _record(self) -> dict[str, Any]:
        return {
            "n_queries": self.qids.size,
            "mean": self.mean,
            "doubts": self.doubts,
            "per_query": self.per_query.to_dicts(),
        }


def evaluate(
    data: RankingDataset | Any,
    scores: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    qid: Any = None,
    group: Any = None,
    preset: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Evaluation:
    """Measure how well scores rank the documents of each query.

    Parameters
    ----------
    data
        A `RankingDataset`, or the labels of the documents with their queries in ``qid``.
    scores
        One score per document, larger is better, in the grouped order of the dataset or, with plain labels, in the
        order of the labels. Or a fitted ranker, ours or another library's, which scores the documents of a
        `RankingDataset` here: of a large one in blocks of whole queries, so that neither features nor scores are in
        memory at once. `plackett.compare` takes several of both by name.
    measures
        Names such as ``"nDCG@10"`` or measure objects.
    qid, group
        With plain labels: the query of each document, in any order, or the number of documents of each query, one
        after another. Without them all documents form one query; a warning says so if there are more than 100.
    preset
        Rules of another tool (`plackett.measures.presets.PRESETS`) for every parameter that a measure does not set.
    random_state
        Seed of the tie rule ``random`` and of estimated means over ties.

    Returns
    -------
    Evaluation
        ``.mean`` (a dict by measure name) and ``.per_query`` (a polars frame).

    Examples
    --------
    >>> result = evaluate([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], ["AP", "P@2"], qid=["a", "a", "a", "b"])
    >>> result.mean["P@2"]
    0.25
    >>> result.per_query["AP"].round(4).to_list()
    [0.8333, 0.0]
    """
    parsed = parse_all(measures)
    if not isinstance(data, RankingDataset):
        data, scores = labelled(data, {"scores": scores}, qid, group)
        scores = scores["scores"]
    elif qid is not None or group is not None:
        raise DataError(OWN_QUERIES)
    scores = partial(predict, scores) if hasattr(scores, "predict") else scores_of(data, scores)
    applied = {str(measure): with_preset(measure, preset) for measure in parsed}
    values = measured(applied.values(), data, scores, random_state=random_state, n_jobs=n_jobs)
    doubts = measure_doubts(applied, data)
    evaluation = Evaluation(applied, data.qids, dict(zip(applied, values, strict=True)), doubts=doubts)
    warn_of_doubts(evaluation, data)
    return evaluation


def labelled(labels: Any, systems: dict[str, Any], qid: Any, group: Any) -> tuple[RankingDataset, dict[str, Any]]:
    """The dataset of plain labels, and the scores of each system in its order."""
    if hasattr(labels, "columns") and labels.shape[1] > 1:
        raise DataError(
            "the data are a frame; make a dataset of it, pk.RankingDataset.from_frame(…), or give its column of "
            "labels, and qid=…"
        )
    for name, given in systems.items():
        if isinstance(given, RankingDataset):
            raise DataError(f"{name} is a RankingDataset: data come first, evaluate(data, scores, measures)")
        if hasattr(given, "predict"):
            raise DataError(
                f"{name}: a ranker needs the features; give a RankingDataset, or the scores of the documents"
            )
    data = RankingDataset.from_arrays(None, labels, qid, group=group)
    if qid is None and group is None and data.n_rows > _LONG_LIST:
        warnings.warn(
            f"without qid, all {data.n_rows:,} documents are one ranked list. Give qid=… (or group=…, the number of "
            f"documents of each query; group=[{data.n_rows}] if it is one list)",
            PlackettWarning,
            stacklevel=3,
        )
    return data, {name: data.from_input_order(unmasked(given)) for name, given in systems.items()}


def measure_scored(scored: Scored, measures: list[Measure], preset: str | None) -> Evaluation:
    """Evaluate scores that are already in the order of their dataset."""
    applied = {str(measure): with_preset(measure, preset) for measure in measures}
    values = {name: measure.per_query(scored) for name, measure in applied.items()}
    doubts = measure_doubts(applied, scored.data) if scored.retrieved.all() else {}
    return Evaluation(applied, scored.data.qids, values, doubts=doubts)


def warn_of_doubts(evaluation: Evaluation, data: RankingDataset) -> None:
    """Warn of labels that the measure does not expect, as every document is relevant, and of added documents."""
    if (added := added_rows(data).size) > 0:
        warnings.warn(
            f"{plural(added, 'document was', 'documents were')} added to the candidates to learn from "
            "(extract --add-judged): these figures are too good. Measure "
            f"{'on data extracted without it' if in_shell() else 'on plackett.without_added(data)'}",
            PlackettWarning,
            stacklevel=3,
        )
    for name, doubt in evaluation.doubts.items():
        if every_document_relevant(evaluation.measures[name], data):
            warnings.warn(doubt, PlackettWarning, stacklevel=3)
