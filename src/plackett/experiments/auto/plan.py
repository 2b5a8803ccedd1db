"""How much of the data to search on: as many splits as time allows, on part of the queries if necessary."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.estimator import clone
from plackett.data.dataset import RankingDataset
from plackett.experiments.auto.inspection import inspect_data
from plackett.experiments.auto.search import Budget
from plackett.experiments.auto.splits import Splits, folds
from plackett.experiments.auto.trials import FAILURES, SMALL, fit, quietly
from plackett.rankers.base import Ranker
from plackett.solvers.monitor import Monitor

#: Share of the time for the search, and how many candidates should be finished in it: a few on several splits say more
#: than many on one.
SEARCH_SHARE, FINISHED = 0.7, 3
#: Documents and rounds of the training that is timed.
PROBE_ROWS, PROBE_ROUNDS = 20_000, 30
#: Share of the time after which it ends early.
PROBE_SHARE = 0.05


def plan(splits: Splits, ranker: Ranker, budget: Budget, *, n_jobs: int | None, **cut: Any) -> Splits:
    """The splits that there is time for, estimated from a short training on part of the data.

    At least three candidates like the first should be finished; linear ones cost next to nothing. If time is too short
    for that on one split, the search uses part of the queries, and only the chosen rankers are trained on all.
    """
    assert budget.seconds is not None
    seconds = _training_seconds(splits.train(0), ranker, budget, n_jobs)
    affordable = SEARCH_SHARE * budget.seconds / max(seconds * FINISHED, 1e-9)
    if affordable >= len(splits):
        return splits
    if affordable >= 1.0 or splits.valid is not None:
        return splits.first(max(1, int(affordable)))
    data = splits.data
    n = max(min(data.n_queries, 20), int(affordable * data.n_queries))
    drawn = np.sort(np.random.default_rng(cut["random_state"]).permutation(data.n_queries)[:n])
    part = data.select(drawn)
    return folds(part, inspect_data(part), None, **cut).first(1)


def _training_seconds(data: RankingDataset, ranker: Ranker, budget: Budget, n_jobs: int | None) -> float:
    """About how long training on the data takes."""
    some = max(1, int(np.searchsorted(data.offsets, PROBE_ROWS, side="right")) - 1)
    part = data.select(np.arange(min(some, data.n_queries)))
    # like the trials: on small data, several threads train several candidates
    probe = clone(ranker).set_params(n_jobs=1 if data.n_rows <= SMALL else n_jobs)
    full = probe.full_effort()
    rounds = full if full is None else min(full, PROBE_ROUNDS)
    if probe.effort is not None:
        probe.set_params(**{probe.effort: rounds})
    for _ in range(2):  # the first may compile
        watch = _Enough(budget)
        try:
            with quietly():
                fit(probe, part, watch)
        except FAILURES:  # the search will say why
            return 0.0
        seconds = budget.clock() - watch.start
        if seconds < 0.5:
            break
    trained = watch.rounds if watch.ended else rounds or 1
    return seconds * (data.n_rows / max(part.n_rows, 1)) * ((full or 1) / trained)


class _Enough:
    """Ends a training that takes more than its share of the time, and counts the rounds."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.start = budget, budget.clock()
        self.rounds, self.ended = 0, False

    def __call__(self, monitor: Monitor) -> bool:
        self.rounds += 1
        assert self.budget.seconds is not None
        self.ended = self.budget.clock() - self.start > PROBE_SHARE * self.budget.seconds
        return self.ended
