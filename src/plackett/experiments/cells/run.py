"""Run one cell: search on the validation part, train, test."""

from __future__ import annotations

import contextlib
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.estimators import build, fit, last_step, predict
from plackett.experiments.cells.cell import Cell
from plackett.experiments.cells.key import versions
from plackett.experiments.cells.trials import Notify, Protocol, SearchTrials, interruptible, watches
from plackett.experiments.contestants import Contestant
from plackett.experiments.effort import effort_of
from plackett.experiments.search import search_named


def run_cell(
    contestant: Contestant, fold: Any, protocol: Protocol, names: dict[str, Any], *, n_jobs: int, notify: Notify
) -> tuple[Cell, Any]:
    """Compute a cell (with scores, not yet measured) and its fitted ranker.

    ``names`` has its dataset, fold, ranker and key.
    """
    _warm_up(contestant, fold.train)
    trials = SearchTrials(contestant, fold, protocol, n_jobs, notify)
    search_named(protocol.search)(
        trials,
        contestant.space,
        n_trials=protocol.n_trials,
        out_of_time=trials.out_of_time,
        random_state=protocol.random_state,
    )
    searched = time.perf_counter() - trials.began
    number, ranker = trials.chosen()
    train_seconds = trials.done[number].seconds
    history = np.asarray(getattr(last_step(ranker), "history_", None) or [], np.float64)
    chosen_by = {"train": trials.value(ranker, fold.train), "valid": trials.done[number].validation}
    valid = getattr(fold, "valid", None)
    valid_scores = None if valid is None else predict(ranker, valid)
    if protocol.refit and valid is not None:
        start = time.perf_counter()
        ranker = trials.refit(number, ranker)
        train_seconds = time.perf_counter() - start
    start = time.perf_counter()
    scores = predict(ranker, fold.test)
    score_seconds = time.perf_counter() - start
    done = [replace(trial, selected=i == number) for i, trial in enumerate(trials.done)]
    cell = Cell(
        **names,
        setting=done[number].setting,
        trials=tuple(done),
        select=str(protocol.select),
        chosen_by=chosen_by | {"test": trials.value_of(fold.test, scores)},
        qids=fold.test.qids,
        scores=scores,
        valid_scores=valid_scores,
        history=history,
        seconds={"search": searched, "train": train_seconds, "score": score_seconds},
        effort=trials.effort or "training queries",
        refit=bool(protocol.refit and valid is not None),
        versions=versions(),
    )
    return cell, ranker


_WARM: set[type] = set()


def _warm_up(contestant: Contestant, train: RankingDataset) -> None:
    """Train once on a few queries, so that imports and compilation do not count towards a ranker's time.

    Done once per process and class. A failure does not matter here: the first trial will report it.
    """
    kind = type(last_step(contestant.ranker))
    if kind in _WARM or not hasattr(contestant.ranker, "get_params"):
        return
    _WARM.add(kind)
    effort = effort_of(contestant.ranker)
    with contextlib.suppress(Exception), warnings.catch_warnings(), interruptible():
        warnings.filterwarnings("ignore", "(?!training was interrupted)")
        few = train.select(np.arange(min(8, train.n_queries)))
        ranker = build(contestant.with_threads(1), {} if effort is None else {effort: 1}, 0)
        predict(fit(ranker, few, few if watches(ranker) else None), few)
