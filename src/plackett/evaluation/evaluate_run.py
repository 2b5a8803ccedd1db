"""Evaluation of a run against judgements, as in trec_eval and ir-measures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import PlackettWarning
from plackett.data.trec_join import NOT_POOLED, JoinedRun, join_run
from plackett.evaluation.evaluate import Evaluation, measure_scored
from plackett.measures.base import Measure
from plackett.measures.language import parse_all
from plackett.measures.presets import PRESETS, with_preset
from plackett.measures.ranking import Scored

__all__ = ["evaluate_run"]


@dataclass(frozen=True, eq=False, repr=False)
class RunEvaluation(Evaluation):
    """Result of `evaluate_run`: an `Evaluation`, and the queries that only the run or only the judgements have.

    Attributes
    ----------
    missing
        Judged queries that the run lacks. With ``complete`` they count as nothing retrieved, otherwise not at all.
    unjudged
        Queries of the run without judgements: they cannot be measured and are left out.
    """

    missing: np.ndarray
    unjudged: np.ndarray


def evaluate_run(
    qrels: Any,
    run: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    preset: str | None = None,
    complete: bool | None = None,
    subtopics: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> RunEvaluation:
    """Measure how well a run ranks judged documents.

    Parameters
    ----------
    qrels
        Judgements: a path, a frame with columns ``qid``, ``docid``, ``label``, or a dict query: {document: label}.
    run
        The ranked documents: a path, a frame with columns ``qid``, ``docid``, ``score``, or a dict query: {document:
        score}.
    measures
        Names such as ``"nDCG@10"`` or measure objects.
    preset
        Rules of another tool for every parameter that a measure does not set; ``"trec"`` for trec_eval's.
    complete
        Whether to count judged queries that the run lacks. Nothing was retrieved for them, so nearly every measure
        gives 0. This is the default, as in ir-measures; the preset ``trec`` leaves such queries out, as trec_eval does
        without ``-c``. Either way the result lists them in ``missing``.
    subtopics
        Whether the judgements are by subtopic, for diversity measures; None means no, except with the preset
        ``ndeval``.
    random_state
        Seed of the tie rule ``random`` and of estimated means over ties.

    Returns
    -------
    RunEvaluation
        ``.mean``, ``.per_query``, ``.missing`` and ``.unjudged``.

    Notes
    -----
    Documents of the run without a judgement have no gain and are not relevant. Relevant documents that the run lacks
    count in every total (recall, average precision, the ideal of nDCG).

    Examples
    --------
    >>> qrels = {"a": {"d1": 1, "d2": 0}, "b": {"d1": 2}}
    >>> run = {"a": {"d1": 0.1, "d2": 0.9, "d3": 0.5}}
    >>> evaluate_run(qrels, run, ["RR"]).per_query["RR"].round(4).to_list()
    [0.3333, 0.0]
    >>> evaluate_run(qrels, run, ["RR"], preset="trec").missing.tolist()
    ['b']
    """
    parsed = parse_all(measures)
    for measure in parsed:
        with_preset(measure, preset)  # report a wrong name before reading files
    if complete is None:
        complete = bool(PRESETS.get(preset or "", {}).get("complete", True))
    if subtopics is None:
        subtopics = bool(PRESETS.get(preset or "", {}).get("subtopics", False))
    joined = join_run(qrels, run, complete=complete, subtopics=subtopics)
    _warn_of_strangers(joined)
    scored = Scored(joined.data, joined.scores, joined.retrieved, random_state=random_state, n_jobs=n_jobs)
    evaluation = measure_scored(scored, parsed, preset)
    return RunEvaluation(
        evaluation.measures,
        evaluation.qids,
        evaluation.values,
        joined.missing,
        joined.unjudged,
        doubts=evaluation.doubts,
    )


def _warn_of_strangers(joined: JoinedRun) -> None:
    """Warn if judgements and run have no query, or no document, in common: figures are then 0 without any reason."""
    found, docids = joined.data.labels[joined.retrieved], joined.data.docids
    if not found.size and joined.unjudged.size and joined.missing.size:
        warnings.warn(
            f"no query of the run is judged: its first is {joined.unjudged[0]!r}, that of the judgements "
            f"{joined.missing[0]!r}. Are the ids those of the same queries?",
            PlackettWarning,
            stacklevel=3,
        )
    elif found.size and (found == NOT_POOLED).all() and docids is not None:
        warnings.warn(
            "no document of the run is judged for its query: the first that was retrieved is "
            f"{docids[joined.retrieved][0]!r}, the first that was judged {docids[~joined.retrieved][0]!r}. Are the ids "
            "those of the same documents?",
            PlackettWarning,
            stacklevel=3,
        )
