"""The answer of an experiment in one line, about one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.evaluation.significance.intervals import confidence_interval
from plackett.experiments.doubts import says_nothing

if TYPE_CHECKING:
    from plackett.experiments.tables.frames import Frames


def verdict(experiment: Frames, dataset: str) -> str:
    """Whether a ranker is reliably better by the first measure on the test data, and by how much.

    The ranker is the one chosen on validation data, or without validation data the best one on the test data. It is
    reliably better if the next best one is significantly worse (Fisher's randomisation test, Holm's correction).
    Otherwise those that cannot be told apart from the best one are named, if there are others.
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
        return f"{best} is reliably better than {other}: {_ahead(experiment, dataset, best, other)}"
    if chosen != best and rows[chosen]["significantly_worse"]:
        ahead = _ahead(experiment, dataset, best, chosen)
        return f"{chosen} was best on validation data, but {best} is better on test data: {ahead}"
    worse = [ranker for ranker in order if rows[ranker]["significantly_worse"]]
    if not worse:
        return f"No ranker is reliably better by {first}"
    tied = [ranker for ranker in order if ranker not in worse]
    are = "is" if len(worse) == 1 else "are"
    return f"{_and(tied)} cannot be told apart by {first}; {_and(worse)} {are} reliably worse than {best}"


def _ahead(experiment: Frames, dataset: str, ranker: str, other: str) -> str:
    """The difference of two means over queries, with its interval."""
    first = next(iter(experiment.measures))
    ours, theirs = (experiment.evaluation(dataset, name).values[first] for name in (ranker, other))
    gap = ours - theirs
    figures = float(np.nanmean(gap)), *confidence_interval(gap, random_state=experiment.protocol["random_state"])
    digits = "+.3f" if abs(figures[0]) >= 5e-4 else "+.1e"
    mean, low, high = (f"{figure:{digits}}".replace("-", "\N{MINUS SIGN}") for figure in figures)
    return f"{mean} {first} (95 % interval {low} to {high})"


def _and(names: list[str]) -> str:
    some = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)
