"""Inspection, splits, candidates, search and the folder."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import plackett as pk
import plackett.experiments.auto.plan as module
from plackett import DataError, PlackettWarning
from plackett._base.estimator import clone
from plackett.data.canonical import canonical_order
from plackett.data.leaks import Leaks
from plackett.experiments.auto.candidates import Candidate, further, given, portfolio
from plackett.experiments.auto.folder import Outcome, TrialFolder
from plackett.experiments.auto.inspection import inspect_data
from plackett.experiments.auto.plan import plan
from plackett.experiments.auto.search import Budget, search
from plackett.experiments.auto.splits import folds
from plackett.experiments.auto.trials import CandidateTrials, fit
from plackett.measures.language import parse
from plackett.testing.rankers import easy_task

NDCG = parse("nDCG@10")


def task(**changes):
    X, y, qid = easy_task(**changes)
    return canonical_order(pk.RankingDataset.from_arrays(X, y, qid))  # as rankers get them


def trials_of(data, n_folds=3, n_repeats=1, folder=None, valid=None):
    cut = folds(data, inspect_data(data), valid, n_folds=n_folds, n_repeats=n_repeats, random_state=0)
    kept = None if folder is None else TrialFolder(folder, cut)
    return CandidateTrials(cut, NDCG, n_rows=data.n_rows, random_state=0, n_jobs=1, clock="wall", folder=kept)


# ---------------------------------------------------------------------------------------------------------- inspection


def test_a_feature_that_is_the_label_is_a_suspect():
    X, y, qid = easy_task()
    leaked = np.hstack([X, (3.0 - y)[:, None]]).astype(np.float32)
    facts = inspect_data(pk.RankingDataset.from_arrays(leaked, y, qid))
    assert facts.suspects == ("5",)
    assert any("5 alone orders the" in sentence for sentence in facts.sentences())
    assert inspect_data(task()).suspects == ()


def test_facts_in_sentences():
    X, y, qid = easy_task()
    X[0, 0] = np.nan
    y[qid == 3] = 1.0
    told = " ".join(inspect_data(pk.RankingDataset.from_arrays(X, y, qid)).sentences())
    assert "24 queries" in told and "missing values" in told and "only one label" in told


# -------------------------------------------------------------------------------------------------------------- splits


def test_every_query_is_held_out_once_a_round_and_copies_share_a_fold():
    X, y, qid = easy_task(n_queries=12)
    data = pk.RankingDataset.from_arrays(np.vstack([X, X]), np.append(y, y), np.append(qid, qid + 100))
    cut = folds(data, inspect_data(data), None, n_folds=4, n_repeats=2, random_state=0)
    assert len(cut) == 8 and cut.rounds == 2
    for i, half in itertools.product(range(8), range(2)):
        train, test = cut.train(i), cut.test(i)
        assert pk.leaks(train, test) == Leaks(0, 0, 0)
        assert train.n_rows + test.n_rows == data.n_rows
        order = np.concatenate(cut.held_out[4 * half : 4 * half + 4])
        assert sorted(order.tolist()) == list(range(24))
    np.testing.assert_array_equal(cut.judged.labels, np.concatenate([cut.test(i).labels for i in range(8)]))
    first = cut.first(3)
    assert len(first) == 3 and first.rounds == 1 and first.judged.n_queries == first.twins.size


# ---------------------------------------------------------------------------------------------------------- candidates


def test_portfolio_by_the_data():
    facts = inspect_data(task())
    names = {type(candidate.ranker).__name__ for candidate in portfolio(facts, 60.0)}
    wanted = {"LambdaMART", "XENDCG", "LambdaLossMART", "MART", "ListNet", "RankSVM", "LinearRegression"}
    assert wanted <= names and "LambdaRank" not in names
    X, y, qid = easy_task()
    X[::3, 1] = np.nan
    facts = inspect_data(pk.RankingDataset.from_arrays(X, y, qid))
    drawn = itertools.islice(further(facts, 0), 20)
    assert all(candidate.ranker.allow_nan for candidate in [*portfolio(facts, 60.0), *drawn])


def test_drawn_settings_differ_and_repeat_for_a_seed():
    facts = inspect_data(task())
    names = [[c.name for c in itertools.islice(further(facts, seed), 30)] for seed in (0, 0, 1)]
    assert names[0] == names[1] != names[2] and len(set(names[0])) == 30


@pytest.mark.parametrize("candidates", ["LambdaMART", [], [3], ["sklearn.linear_model.Ridge"]])
def test_candidates_that_are_none(candidates):
    with pytest.raises(DataError, match="candidates"):
        given(candidates)


# -------------------------------------------------------------------------------------------------------------- trials


@pytest.mark.parametrize("ranker", [pk.LambdaMART, pk.MART, pk.XENDCG, pk.McRank])
def test_scores_after_a_stage_are_those_of_a_shorter_training(ranker):
    data = task()
    trials = trials_of(data)
    made = ranker(n_estimators=8, num_leaves=4, min_child_samples=1, n_jobs=1)
    candidate = Candidate.of(made)
    assert candidate.stages == (1, 2, 4, 8)
    trials.run(trials.add(candidate), 0)
    for stage, rounds in enumerate(candidate.stages):
        shorter = ranker(n_estimators=rounds, num_leaves=4, min_child_samples=1, n_jobs=1).fit(trials.splits.train(0))
        result = trials.outcomes[0, 0].scores[stage] * trials.outcomes[0, 0].spreads[stage]
        np.testing.assert_allclose(result, shorter.predict(trials.splits.test(0)), rtol=1e-9, atol=1e-12)


def test_stages_of_oblivious_trees_are_those_of_a_shorter_training():
    trials = trials_of(task())
    candidate = Candidate.of(pk.ObliviousLambdaMART(n_estimators=8, depth=2, n_jobs=1))
    assert candidate.stages == (1, 2, 4, 8)
    trials.run(trials.add(candidate), 0)
    shorter = pk.ObliviousLambdaMART(n_estimators=2, depth=2, n_jobs=1).fit(trials.splits.train(0))
    scores = trials.outcomes[0, 0].scores[1] * trials.outcomes[0, 0].spreads[1]
    np.testing.assert_allclose(scores, shorter.predict(trials.splits.test(0)), rtol=1e-9, atol=1e-12)


def test_worth_is_the_mean_over_held_out_queries():
    data = task()
    trials = trials_of(data)
    number = trials.add(Candidate.of(pk.ListNet(n_jobs=1)))
    values = []
    for split, (train, test) in enumerate((trials.splits.train(i), trials.splits.test(i)) for i in range(3)):
        trials.run(number, split)
        scores = pk.ListNet(n_jobs=1).fit(train).predict(test)
        values += pk.evaluate(test, scores, "nDCG@10").per_query["nDCG@10"].to_list()
    assert trials.worth(number) == pytest.approx(np.mean(values), rel=1e-12)


def test_each_mean_is_measured_once(monkeypatch):
    trials = trials_of(task())
    number = trials.add(Candidate.of(pk.ListNet(alpha=1.0, n_jobs=1)))
    for split in range(3):
        trials.run(number, split)
    calls = []
    values = trials.values
    monkeypatch.setattr(trials, "values", lambda scores: calls.append(1) or values(scores))
    first = [trials.worth(number, n) for n in (1, 2, 3)]
    assert [trials.worth(number, n) for n in (1, 2, 3)] == first and len(calls) == 3
    trials.replace(number, Candidate.of(pk.ListNet(alpha=1e6, n_jobs=1)))
    trials.run(number, 0)
    trials.worth(number, 1)
    assert len(calls) == 4


# -------------------------------------------------------------------------------------------------------------- search


def test_halving_gives_more_splits_to_the_better():
    data = task(n_queries=36)
    trials = trials_of(data, n_folds=9)
    good, bad = pk.ListNet(n_jobs=1), pk.LambdaMART(n_estimators=1, num_leaves=2, n_jobs=1)
    candidates = [Candidate(f"{i}", good if i == 7 else bad) for i in range(9)]
    budget = Budget(None, 9, None, trials.clock)
    assert search(trials, candidates, iter(()), budget, 5, lambda: None) == "all settings were tried"
    done = [trials.done(i) for i in range(9)]
    assert done[7] == 9 and min(done) == 1
    # one of nine by halving, three that were left behind twice: after the halving, and at the end
    assert sorted(done)[:2] == [1, 1] and done.count(9) == 7


def test_boosted_candidates_grow_while_all_their_rounds_are_needed():
    """Two rounds of two leaves are too few for a sum of four features; linear candidates stay as they are."""
    data = pk.datasets.make_ranking(n_queries=40, n_features=4, random_state=0)
    trials = trials_of(data)
    made = pk.LambdaMART(n_estimators=2, num_leaves=2, learning_rate=0.05, min_child_samples=1, n_jobs=1)
    candidates = [replace(Candidate.of(made), may_grow=True), Candidate.of(pk.ListNet(n_jobs=1))]
    search(trials, candidates, iter(()), Budget(None, 2, None, trials.clock), 5, lambda: None)
    grown, linear = (candidate.ranker for candidate in trials.candidates)
    assert (grown.learning_rate, grown.n_estimators) == (0.1, 4)
    assert trials.candidates[0].stages[-1] == 4 and trials.done(0) == 3
    assert linear.get_params() == pk.ListNet(n_jobs=1).get_params()
    assert made.n_estimators == 2  # the user's own ranker is left alone


def test_boosted_candidates_shrink_where_few_rounds_are_best():
    trials = trials_of(task())
    ranker = pk.MART(n_estimators=16, num_leaves=3, min_child_samples=2, n_jobs=1)
    first = [replace(Candidate.of(clone(ranker).set_params(reg_lambda=x)), may_grow=True) for x in (0.0, 1.0)]
    labels = trials.splits.test(0).labels
    scores = np.outer([-1.0, -1.0, 1.0, -1.0, -1.0], labels)  # best after 4 of 1, 2, 4, 8 and 16 rounds
    for number in range(2):
        trials.outcomes[number, 0] = Outcome(scores, np.ones(5), 0.1, 1e-6)
    search(trials, first, iter(()), Budget(None, 2, None, trials.clock), 5, lambda: None)
    assert [candidate.ranker.n_estimators for candidate in trials.candidates] == [8, 8]
    assert trials.outcomes[0, 0].scores.shape[0] == len(trials.candidates[0].stages) == 4
    assert first[0].ranker.n_estimators == 16


def test_linear_candidates_are_finished_even_after_a_bad_split(monkeypatch):
    monkeypatch.setattr("plackett.experiments.auto.search.FINISHED", 1)
    trials = trials_of(task(n_queries=36), n_folds=9)
    good = pk.MART(n_estimators=8, num_leaves=4, min_child_samples=2, n_jobs=1)
    first = [Candidate.of(clone(good).set_params(reg_lambda=float(i)), str(i)) for i in range(4)]
    first += [Candidate.of(pk.ListNet(alpha=1e4, n_jobs=1)), Candidate.of(pk.RankSVM(C=1e-9, n_jobs=1))]
    search(trials, first, iter(()), Budget(None, 6, None, trials.clock), 5, lambda: None)
    assert [trials.done(i) for i in (4, 5)] == [9, 9]
    assert min(trials.done(i) for i in range(4)) < 9


def test_rankers_that_a_user_names_do_not_grow():
    candidate = given(["LambdaMART(n_estimators=2)"])[0]
    assert candidate.grown() is candidate


def test_a_candidate_that_fails_is_worth_nothing():
    X, y, qid = easy_task()
    X[::4, 0] = np.nan
    trials = trials_of(pk.RankingDataset.from_arrays(X, y, qid))
    candidates = given(["ListNet", "MART(n_estimators=2, min_child_samples=1)"])
    search(trials, candidates, iter(()), Budget(None, 2, None, trials.clock), 5, lambda: None)
    assert trials.complete() == [1] and "missing values" in str(trials.errors[0])


def test_time_is_kept_back_for_training_on_all_data():
    trials = trials_of(task())
    clock = iter(np.arange(0.0, 1e6, 1.0))
    trials.clock = lambda: float(next(clock))
    budget = Budget(120.0, None, None, trials.clock)
    endless = (Candidate.of(pk.LinearRegression(alpha=float(a), n_jobs=1)) for a in itertools.count(1))
    assert search(trials, [], endless, budget, 5, lambda: None) == "the time was up"
    assert budget.reserve > 0.0
    assert budget.spent() < 120.0


@pytest.mark.parametrize(
    ("seconds", "n_splits", "n_queries"), [(1e6, 6, 60), (10.0, 2, 60), (1.6, 1, 22), (1e-3, 1, 20)]
)
def test_fewer_splits_and_fewer_queries_where_time_is_short(seconds, n_splits, n_queries, monkeypatch):
    """A training takes one second by this clock, and three are wanted in seven tenths of the time."""
    data = task(n_queries=60)
    trained = []
    monkeypatch.setattr(module, "fit", lambda *given: trained.append(given))
    cut = {"n_folds": 3, "n_repeats": 2, "random_state": 0}
    facts = inspect_data(data)
    splits = folds(data, facts, None, **cut)
    budget = Budget(seconds, None, None, lambda: float(len(trained)))
    result = plan(splits, pk.LambdaMART(n_estimators=20, num_leaves=4), budget, n_jobs=1, **cut)
    assert (len(result), result.data.n_queries) == (n_splits, n_queries)


def test_sizes_in_good_english():
    X, y = np.arange(12.0)[:, None] % 7, [0, 1, 2, 1, 1, 1, 0, 1, 2, 0, 1, 2]
    told = inspect_data(pk.RankingDataset.from_arrays(X, y, np.repeat(range(4), 3))).sentences()
    assert told[0] == "The data: 4 queries, 12 documents, 1 feature; lists of 3 documents."
    assert "1 query has only one label: there is nothing to learn from it." in told
    one = inspect_data(pk.RankingDataset.from_arrays(X, y, np.arange(12))).sentences()
    assert one[0].endswith("lists of 1 document.")


# -------------------------------------------------------------------------------------------------------------- folder


def test_the_timed_training_is_short_and_has_one_thread(monkeypatch):
    """Two threads on a few documents may take minutes where other programs want the cores."""
    data, seen = task(), []
    facts, cut = inspect_data(data), {"n_folds": 2, "n_repeats": 1, "random_state": 0}
    ticks = itertools.count()
    budget = Budget(40.0, None, None, lambda: float(next(ticks)))

    def spy(ranker, data, after):
        fit(ranker, data, after)
        seen.append((ranker.n_jobs, ranker.scorer_.booster.num_trees()))

    monkeypatch.setattr(module, "fit", spy)
    result = plan(folds(data, facts, None, **cut), pk.MART(n_estimators=30), budget, n_jobs=2, **cut)
    # a twentieth of the budget is two ticks; the clock is asked once a round
    assert seen == [(1, 3), (1, 3)] and len(result) == 1


def test_finished_trainings_are_taken_from_the_folder(tmp_path, monkeypatch):
    data = task()
    before = trials_of(data, folder=tmp_path)
    before.run(before.add(Candidate.of(pk.ListNet())), 1)
    (file,) = tmp_path.iterdir()

    def no_training(*_):
        raise AssertionError("trained again")

    after = trials_of(data, folder=tmp_path)
    number = after.add(Candidate.of(pk.ListNet()))
    with monkeypatch.context() as patch:
        patch.setattr(CandidateTrials, "_outcome", no_training)
        after.run(number, 1)
    np.testing.assert_array_equal(after.outcomes[0, 1].scores, before.outcomes[0, 1].scores)
    # another split, other parameters and other data are other files
    after.run(number, 0)
    after.run(after.add(Candidate.of(pk.ListNet(alpha=0.5))), 1)
    other = trials_of(task(seed=1), folder=tmp_path)
    other.run(other.add(Candidate.of(pk.ListNet())), 1)
    assert len(list(tmp_path.iterdir())) == 4
    file.write_bytes(file.read_bytes()[:-8])
    again = trials_of(data, folder=tmp_path)
    with pytest.warns(PlackettWarning, match="damaged"):
        again.run(again.add(Candidate.of(pk.ListNet())), 1)
    np.testing.assert_array_equal(again.outcomes[0, 1].scores, before.outcomes[0, 1].scores)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="folder="):
        trials_of(task(), folder=tmp_path / "file")
    with pytest.raises(DataError, match="folder=''"):  # not the current folder
        trials_of(task(), folder="")
