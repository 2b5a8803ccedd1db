"""The process that runs an experiment for the page: ``python -m plackett.workbench.training_process FOLDER``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Run the experiment in ``job.json`` on ``data.plackett``; write report, winner and ``result.json``."""
    os.environ.setdefault("COLUMNS", "200")
    if hasattr(os, "nice"):
        os.nice(5)  # the page goes first
    from plackett.data.native import open_dataset
    from plackett.experiments.experiment import experiment

    job = json.loads((folder / "job.json").read_text("utf-8"))
    data = open_dataset(folder / "data.plackett")
    folds = max(3, min(job["folds"], data.n_queries))
    measures = list(dict.fromkeys([job["measure"], "nDCG@10", "AP", "RR"]))
    finished = experiment(
        {"judged queries": data},
        job["rankers"],
        measures,
        select=job["measure"],
        folds=folds,
        n_trials=job["trials"],
        out=folder / "cells",
        verbose=True,
    )
    best = finished.best()
    print(f"{best} is best on the validation parts; training it on all queries", file=sys.stderr)
    winner = _refitted(finished, best, data)
    winner.save(folder / "winner.plackett")
    report = _report(finished, folder / "report")
    board = finished.leaderboard.filter(measure=job["measure"])
    keys = ("ranker", "mean_over_queries", "low", "high", "best", "significantly_worse", "train_seconds")
    result = {
        "best": best,
        "headline": finished.headline(),
        "measure": job["measure"],
        "leaderboard": [{key: row[key] for key in keys} for row in board.to_dicts()],
        "queries": data.n_queries,
        "documents": data.n_rows,
        "features": data.n_features,
        "report": report,
        "failures": [f"{failure.ranker}: {failure.error}" for failure in finished.failures],
    }
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


def _refitted(finished: Any, best: str, data: Any) -> Any:
    """The best ranker trained on all data, with the setting and rounds of the fold in which validation was best."""
    from plackett._base.estimator import clone
    from plackett.experiments.effort import settled
    from plackett.measures.language import parse

    worth = parse(finished.select).worth
    cells = finished.of("judged queries", best)
    ranker = max(cells, key=lambda cell: -float("inf") if cell.validation is None else worth(cell.validation)).model()
    return clone(ranker).set_params(**settled(ranker)).fit(data)


def _report(finished: Any, folder: Path) -> bool:
    """Write the report, if the extra that it needs is installed."""
    from plackett._base.errors import MissingExtraError

    try:
        finished.report(folder, title="Experiment of the workbench")
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    from plackett._base.errors import DataError
    from plackett._base.process import own_process

    own_process()
    try:
        main(Path(sys.argv[1]))
    except (DataError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
