"""The answer of an experiment in one line, about one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plackett.experiments.doubts import says_nothing

if TYPE_CHECKING:
    from plackett.experiments.result import Experiment

__all__ = ["verdict"]


def verdict(experiment: Experiment, dataset: str) -> str:
    """Whether a ranker is reliably better by the first measure on the test data, and by how much.

    The ranker is the one chosen on validation data, or without validation data the best one on the test data. It is
    reliably better if the next best one is significantly worse (Fisher's randomisation test, Holm's correction).
    """
    first, measure = next(iter(experiment.measures.items()))
    board = experiment.leaderboard.filter(dataset=dataset, measure=first)
    rows: dict[str, dict[str, Any]] = {row["ranker"]: row for row in board.iter_rows(named=True)}
    if not rows:
        return "No ranker is finished in every fold."
    order = sorted(rows, key=lambda ranker: -measure.worth(rows[ranker]["mean_over_queries"]))
    best = order[0]
    if len(rows) == 1:
        return f"{best}, {first} {rows[best]['mean_over_queries']:.4f}; there is no other ranker to compare with"
    if says_nothing({ranker: experiment.evaluation(dataset, ranker).values[first] for ranker in rows}):
        return f"No ranker is better: {first} is the same for all of them on every query"
    chosen = experiment.chosen(dataset) or best
    other = order[1]
    if rows[other]["p_corrected"] is None:
        return f"{best} has the best {first}; no test can tell whether it is reliably better"
    if chosen == best and rows[other]["significantly_worse"]:
        return f"{best}, {_ahead(rows, best, other, first)} over {other}, {_p(rows[other])}"
    if chosen != best and rows[chosen]["significantly_worse"]:
        ahead = _ahead(rows, best, chosen, first)
        return f"{chosen} was best on validation data, but {best} is better on test data: {ahead}, {_p(rows[chosen])}"
    return f"No ranker is reliably better by {first}"


def _ahead(rows: dict[str, dict[str, Any]], ranker: str, other: str, measure: str) -> str:
    difference = rows[ranker]["mean_over_queries"] - rows[other]["mean_over_queries"]
    text = f"{difference:+.3f}" if abs(difference) >= 5e-4 else f"{difference:+.1e}"
    return f"{text.replace('-', '−')} {measure}"


def _p(row: dict[str, Any]) -> str:
    p = row["p_corrected"]
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
