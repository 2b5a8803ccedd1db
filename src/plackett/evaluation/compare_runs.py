"""Comparison of TREC runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plackett.evaluation.compare_evaluations import compare_evaluations, named_systems
from plackett.evaluation.comparison import Comparison
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures.base import Measure
from plackett.measures.language import parse_all

__all__ = ["compare_runs"]


def compare_runs(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: str | Measure | Iterable[str | Measure],
    *,
    preset: str | None = None,
    subtopics: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    **options: Any,
) -> Comparison:
    """Compare several runs (ranked lists of document ids) against relevance judgements.

    If a run lacks a judged query, it counts as having retrieved nothing for it, whatever the preset: all runs are
    compared on the same queries, and leaving out a hard query must not help.

    Parameters
    ----------
    qrels, runs
        Judgements, and runs by name, in any form that `plackett.evaluate_run` accepts: paths, frames or dicts.
    measures, preset, subtopics
        As in `plackett.evaluate_run`.
    **options
        As in `compare`: ``test``, ``correction``, ``baseline``, ``alpha``, ….

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1, "d4": 0}}
    >>> good, bad = {"q1": {"d1": 2.0}, "q2": {"d3": 2.0}}, {"q1": {"d2": 2.0}, "q2": {"d3": 1.0}}
    >>> compare_runs(qrels, {"good": good, "bad": bad}, ["nDCG"]).means["nDCG"].to_list()
    [1.0, 0.5]
    """
    parsed = parse_all(measures)
    rules: dict[str, Any] = {"complete": True, "subtopics": subtopics, "random_state": random_state, "n_jobs": n_jobs}
    evaluations = {
        name: evaluate_run(qrels, run, parsed, preset=preset, **rules)
        for name, run in named_systems(runs, "runs").items()
    }
    return compare_evaluations(evaluations, random_state=random_state, **options)
