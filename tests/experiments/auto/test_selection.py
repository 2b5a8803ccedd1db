"""Greedy selection against enumeration, and the nested estimate against chance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.folder import Outcome
from plackett.experiments.auto.inspection import inspect_data
from plackett.experiments.auto.selection import _parts, greedy, members_for, select
from plackett.experiments.auto.splits import folds
from plackett.experiments.auto.trials import CandidateTrials
from plackett.measures.language import parse


def closeness(target):
    return lambda scores: -float(np.linalg.norm(scores - target))


@pytest.mark.parametrize("seed", range(5))
def test_each_pick_is_the_best_of_all(seed):
    """The definition, as a plain loop that keeps every multiset of picks."""
    rng = np.random.default_rng(seed)
    rows = list(rng.normal(size=(4, 6)))
    value = closeness(np.mean(rows[:3], axis=0))
    picks: list[int] = []
    best = (-np.inf, ())
    for _ in range(6):
        worth = [value(np.mean([rows[i] for i in [*picks, j]], axis=0)) for j in range(4)]
        picks.append(int(np.argmax(worth)))
        if max(worth) > best[0]:
            best = max(worth), tuple(picks)
    np.testing.assert_array_equal(greedy(rows, value, picks=6), np.bincount(best[1], minlength=4))


def test_finds_the_best_multiset_where_greed_can():
    rows = [np.eye(3)[i] for i in range(3)]
    value = closeness(np.array([0.5, 0.25, 0.25]))
    every = [c for n in range(1, 5) for c in itertools.combinations_with_replacement(range(3), n)]
    best = max(every, key=lambda picks: value(np.mean([rows[i] for i in picks], axis=0)))
    np.testing.assert_array_equal(greedy(rows, value, picks=4), np.bincount(best, minlength=3))


def test_never_worse_than_the_best_alone_and_only_what_is_allowed():
    rng = np.random.default_rng(0)
    rows = list(rng.normal(size=(5, 8)))
    value = closeness(rows[2] + 0.01)
    counts = greedy(rows, value)
    assert value(counts @ np.array(rows) / counts.sum()) >= value(rows[2]) - 1e-12
    counts = greedy(rows, closeness(np.mean(rows, axis=0)), allowed=lambda c: c[3] == 0 and (c > 0).sum() <= 2)
    assert counts[3] == 0 and (counts > 0).sum() <= 2


def test_begins_with_the_first_ones_that_are_allowed():
    rows = [np.eye(4)[i] for i in range(4)]
    value = closeness(rows[0])
    np.testing.assert_array_equal(greedy(rows, value, picks=6), [1, 0, 0, 0])
    np.testing.assert_array_equal(greedy(rows, value, picks=6, start=3), [4, 1, 1, 0])
    np.testing.assert_array_equal(greedy(rows, value, picks=6, start=3, allowed=lambda c: c[1] == 0), [5, 0, 1, 0])


def noise_trials(n_candidates, measure="nDCG@10", n_queries=300, seed=0):
    """Candidates whose held-out scores are noise: none is better than chance."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    data = pk.RankingDataset.from_arrays(rng.normal(size=(qid.size, 2)), rng.integers(0, 3, qid.size), qid)
    parsed = parse(measure)
    cut = folds(data, inspect_data(data), None, n_folds=5, n_repeats=1, random_state=0)
    trials = CandidateTrials(cut, parsed, n_rows=data.n_rows, random_state=0, n_jobs=1, clock="wall", folder=None)
    for _ in range(n_candidates):
        number = trials.add(Candidate("noise", pk.ListNet()))
        for split in range(len(cut)):
            rows = cut.test(split).n_rows
            trials.outcomes[number, split] = Outcome(rng.normal(size=(1, rows)), np.ones(1), 0.1, 1e-6 * (number + 1))
    chance = parsed.mean(parsed.per_query(pk.measures.ranking.Scored(data, np.zeros(data.n_rows))))
    return trials, chance


@pytest.mark.parametrize("measure", ["nDCG@10", "ARP"])
def test_the_estimate_is_honest_where_the_winner_is_lucky(measure):
    """Of twenty rankers that know nothing the best looks better than chance; the estimate does not."""
    winners, estimates = [], []
    for seed in range(4):
        trials, chance = noise_trials(20, measure, seed=seed)
        sign = 1.0 if trials.measure.ascending else -1.0
        winners.append(max(trials.worth(i) for i in trials.complete()) - sign * chance)
        values = select(trials, max_members=5).values
        estimates.append(values.mean() - sign * chance)
    assert np.mean(winners) > 0.0
    assert abs(np.mean(estimates)) < 0.25 * np.mean(winners)


def test_limits_on_members_and_on_scoring_time():
    trials, _ = noise_trials(10)
    assert len(select(trials, max_members=2).members) <= 2
    chosen = select(trials, max_members=5, document_seconds=7.5e-6)
    assert sum(number + 1 for number in chosen.members) <= 7.5
    # where none is fast enough, the fastest one
    assert select(trials, max_members=5, document_seconds=1e-9).members == [0]


def test_weights_sum_to_one_and_a_perfect_candidate_takes_all():
    trials, _ = noise_trials(5)
    number = trials.add(Candidate("perfect", pk.ListNet()))
    for split in range(len(trials.splits)):
        labels = trials.splits.test(split).labels
        trials.outcomes[number, split] = Outcome(labels[None, :], np.ones(1), 0.1, 1e-6)
    chosen = select(trials, max_members=5)
    assert chosen.members == [number] and chosen.weights.tolist() == [1.0]
    np.testing.assert_allclose(chosen.values, np.ones(300), rtol=1e-12)


def test_the_best_stage_is_chosen():
    trials, _ = noise_trials(0)
    number = trials.add(Candidate("staged", pk.ListNet(), (10, 20, 30)))
    rng = np.random.default_rng(0)
    for split in range(len(trials.splits)):
        labels = trials.splits.test(split).labels
        scores = np.array([rng.normal(size=labels.size), labels, -labels])
        trials.outcomes[number, split] = Outcome(scores, np.ones(3), 0.1, 1e-6)
    assert select(trials, max_members=5).stages == [1]


def test_few_queries_have_more_members():
    """With few queries, candidates of equal worth share the weight; with many, at most five are kept."""
    rng = np.random.default_rng(0)
    for n_queries, most in ((60, 10), (240, 5)):
        trials, _ = noise_trials(0, n_queries=n_queries)
        for _ in range(14):
            number = trials.add(Candidate("noisy", pk.ListNet()))
            for split in range(len(trials.splits)):
                labels = trials.splits.test(split).labels
                noisy = labels + 2.0 * rng.normal(size=(1, labels.size))
                trials.outcomes[number, split] = Outcome(noisy, np.ones(1), 0.1, 1e-6)
        chosen = select(trials, max_members=members_for(n_queries))
        assert len(chosen.members) == most
        assert chosen.values.shape == (n_queries,) and np.isfinite(chosen.values).all()


@pytest.mark.parametrize(("n_queries", "n_parts", "rounds"), [(1, 0, 0), (3, 10, 5), (199, 10, 5), (200, 5, 1)])
def test_each_query_is_left_out_once_a_round(n_queries, n_parts, rounds):
    queries = np.tile(np.arange(n_queries), 2)  # repeated folds have two entries for a query
    parts, n = _parts(queries, 0)
    assert (len(parts), n) == (n_parts, rounds)
    if parts:
        np.testing.assert_array_equal(np.sum(parts, axis=0), rounds)
        assert all(np.array_equal(part[:n_queries], part[n_queries:]) for part in parts)
