"""Experiments from the page."""

from __future__ import annotations

from typing import Annotated, Any

from plackett.serve.http import RefusedError
from plackett.workbench.api.parameters import WHOLE, Action, Name, Names, Param, action
from plackett.workbench.bench import Workbench

#: Rankers that are offered first: fast, and of different kinds.
_FIRST = ["LambdaMART", "ListNet", "RankSVM", "CoordinateAscent", "RankBoost", "LinearRegression"]
Folds = Annotated[int, Param(WHOLE, 3, 10)]
Trials = Annotated[int, Param(WHOLE, 1, 100)]
JobNumber = Annotated[int, Param(WHOLE, 1, 1_000_000)]


@action("GET", "/api/train/choice")
def choice(bench: Workbench) -> dict[str, Any]:
    """Features and rankers to choose from."""
    from plackett._names.catalogue import items

    every = sorted({item.name for item in items("ranker")})
    return {
        "features": bench.source.feature_choice(),
        "rankers": [{"name": name, "chosen": name in _FIRST[:3]} for name in _FIRST if name in every]
        + [{"name": name, "chosen": False} for name in every if name not in _FIRST],
        "jobs": [job.describe() for job in bench.jobs.all.values()],
    }


@action("POST", "/api/train")
def start(
    bench: Workbench, set: Name, rankers: Names, features: Names = (), measure: Name = "nDCG@10", folds: Folds = 5,
    trials: Trials = 3,
) -> dict[str, Any]:  # fmt: skip
    """Start an experiment."""
    if not rankers:
        raise RefusedError(422, "choose at least one ranker")
    return {"job": bench.train(set, rankers, features, measure, folds, trials).describe()}


@action("GET", "/api/train/job")
def job(bench: Workbench, number: JobNumber) -> dict[str, Any]:
    """How far an experiment is."""
    return {"job": bench.jobs.job(number).describe()}


@action("POST", "/api/train/stop")
def stop(bench: Workbench, number: JobNumber) -> dict[str, Any]:
    """End an experiment."""
    return {"job": bench.jobs.stop(number).describe()}


@action("POST", "/api/train/add")
def add(bench: Workbench, number: JobNumber) -> dict[str, Any]:
    """Add the winner as a column."""
    return {"column": bench.add_winner(number)}


#: What the page can ask.
ACTIONS: list[Action] = [choice, start, job, stop, add]
