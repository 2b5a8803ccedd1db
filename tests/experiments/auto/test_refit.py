"""Training the chosen members on all data when time is short."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
import plackett.experiments.auto.refit as module
from plackett.data.canonical import canonical_order
from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.inspection import inspect_data
from plackett.experiments.auto.refit import refit
from plackett.experiments.auto.selection import BlendMembers
from plackett.experiments.auto.splits import folds
from plackett.experiments.auto.trials import CandidateTrials, fit
from plackett.measures.language import parse
from plackett.testing.rankers import easy_task

ROUNDS = 6


@pytest.fixture
def trials():
    """Two candidates that have finished, and a clock that stands still until a test moves it."""
    data = canonical_order(pk.RankingDataset.from_arrays(*easy_task()))
    measure = parse("nDCG@10")
    cut = folds(data, inspect_data(data), None, n_folds=2, n_repeats=1, random_state=0)
    made = CandidateTrials(cut, measure, n_rows=data.n_rows, random_state=0, n_jobs=1, clock="wall", folder=None)
    made.clock = lambda: 0.0
    for leaves in (3, 4):
        ranker = pk.MART(n_estimators=ROUNDS, num_leaves=leaves, min_child_samples=2, colsample_bytree=0.5, n_jobs=1)
        number = made.add(Candidate(f"{leaves}", ranker))
        for split in range(2):
            made.run(number, split)
    return made


def trained(trials, clock, **limits):
    trials.clock = clock
    chosen = BlendMembers([0, 1], [0, 0], np.array([0.6, 0.4]), None)
    scorer, short = refit(trials, chosen, trials.splits.data, **limits)
    return [(ranker.num_leaves, ranker.scorer_.booster.num_trees()) for ranker in scorer.members], short


def test_members_may_be_late_and_further_seeds_may_not(trials):
    assert trained(trials, lambda: 2.0, n_seeds=3, deadline=1.0, latest=3.0) == ([(3, ROUNDS), (4, ROUNDS)], None)


def test_a_member_that_is_cut_short_is_dropped(trials):
    ticks = iter(range(1000))
    rankers, short = trained(trials, lambda: float(next(ticks)), n_seeds=1, deadline=10.0, latest=12.0)
    assert rankers == [(3, ROUNDS)] and short == "cut short by the time budget"


def test_a_seed_that_is_cut_short_is_dropped(trials):
    ticks = iter(range(1000))
    rankers, short = trained(trials, lambda: float(next(ticks)), n_seeds=2, deadline=19.0, latest=40.0)
    assert rankers == [(3, ROUNDS), (4, ROUNDS)] and short is None


def test_few_documents_are_trained_on_with_one_thread(trials, monkeypatch):
    seen = []
    trials.n_jobs = 2
    monkeypatch.setattr(module, "fit", lambda ranker, *given: seen.append(ranker.n_jobs) or fit(ranker, *given))
    chosen = BlendMembers([0, 1], [0, 0], np.array([0.6, 0.4]), None)
    scorer, _ = refit(trials, chosen, trials.splits.data, n_seeds=1)
    assert seen == [1, 1] and [ranker.n_jobs for ranker in scorer.members] == [2, 2]
