"""AutoRanker as a whole; the battery of all rankers has the rest."""

from __future__ import annotations

import errno
import json

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett._files import storage as _storage
from plackett.experiments.auto.trials import CandidateTrials
from plackett.experiments.tables.leaderboard import _statistics
from plackett.rankers import storage
from plackett.rankers.display import card_rows
from plackett.scorers.model import digest
from plackett.testing.rankers import easy_task

LINEAR = ("ListNet", "LinearRegression", "RankSVM")
FEW = {"n_folds": 3, "n_repeats": 1, "n_jobs": 1}


def task(seed=0, n_queries=24):
    X, y, qid = easy_task(seed=seed, n_queries=n_queries)
    return pk.RankingDataset.from_arrays(X, y, qid)


@pytest.fixture(scope="module")
def fitted():
    return pk.AutoRanker(candidates=(*LINEAR, "MART(n_estimators=8, min_child_samples=1)"), n_trials=4, **FEW).fit(
        task()
    )


def test_scores_are_the_weighted_sum_of_members_trained_on_all_data(fitted):
    new = task(seed=3)
    total = np.zeros(new.n_rows)
    for member, factor in zip(fitted.members_, fitted.scorer_.factors, strict=True):
        alone = type(member)(**member.get_params()).fit(task())
        np.testing.assert_array_equal(alone.predict(new), member.predict(new))
        total += factor * alone.predict(new)
    np.testing.assert_allclose(fitted.predict(new), total, rtol=1e-12)


def test_leaderboard_reasons_and_estimate_are_saved(fitted, tmp_path):
    board = fitted.leaderboard_
    assert isinstance(board, pl.DataFrame) and board.height == 4
    full = board.filter(pl.col("splits") == 3)
    assert full["value"].is_sorted(descending=True)
    assert board["weight"].sum() == pytest.approx(1.0)
    estimate = fitted.estimate_
    assert estimate["low"] < estimate["value"] < estimate["high"] and estimate["queries"] == 24
    assert any(f"{estimate['value']:.4f} on new queries" in sentence for sentence in fitted.reasons_)
    assert ("to expect on new queries", f"nDCG@10 {estimate['value']:.4f}") in card_rows(fitted)
    fitted.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    assert loaded.leaderboard_.equals(board) and loaded.reasons_ == fitted.reasons_
    assert storage.card(tmp_path / "m.plackett")["card"]["auto"]["estimate"] == estimate


def test_the_estimate_keeps_to_the_bounds_of_the_measure():
    few = pk.AutoRanker(candidates=("ListNet",), n_trials=1, n_folds=2, n_repeats=1, n_jobs=1).fit(task(n_queries=6))
    assert 0 < few.estimate_["low"] < few.estimate_["value"] < few.estimate_["high"] == 1.0
    assert any("1 setting was tried" in sentence for sentence in few.reasons_)


def test_the_interval_of_a_single_ranker_keeps_to_the_bounds_of_the_measure():
    values = {"A": np.array([1.0, 1.0, 1.0, 0.7])}
    row = _statistics("AP", pk.measures.AP, values, 0)["A"]
    assert 0 < row["low"] < 0.925 and row["high"] == 1.0


def test_rounds_that_were_best_are_trained(fitted):
    trees = pk.AutoRanker(candidates=("LambdaMART(n_estimators=16, min_child_samples=1)",), n_trials=1, **FEW).fit(
        task()
    )
    (row,) = trees.leaderboard_.iter_rows(named=True)
    assert row["rounds"] in (2, 4, 8, 16)
    assert trees.members_[0].booster_.num_trees() == trees.members_[0].n_estimators == row["rounds"]


def test_members_that_draw_are_averaged_over_seeds():
    candidate = "MART(n_estimators=4, colsample_bytree=0.5, min_child_samples=1)"
    ranker = pk.AutoRanker(candidates=(candidate,), n_trials=1, n_seeds=3, **FEW).fit(task())
    assert [member.random_state for member in ranker.members_] == [0, 1, 2]
    assert len(set(ranker.scorer_.factors)) == 1


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    run, calls = CandidateTrials.run, []

    def interrupted(self, number, split, n_jobs=1):
        calls.append(number)
        if len(calls) == 5:
            raise KeyboardInterrupt
        run(self, number, split)

    monkeypatch.setattr(CandidateTrials, "run", interrupted)
    drawing = "MART(n_estimators=2, colsample_bytree=0.5, min_child_samples=1)"
    with pytest.warns(PlackettWarning, match="interrupted"):
        hurried = pk.AutoRanker(candidates=(drawing,), n_trials=1, n_folds=6, n_repeats=1, n_jobs=1).fit(task())
    assert len(hurried.members_) == 1  # no further seeds
    calls.clear()
    with pytest.warns(PlackettWarning, match="interrupted"):
        ranker = pk.AutoRanker(candidates=LINEAR, n_trials=3, **FEW).fit(task())
    assert ranker.card_["interrupted"] and "interrupted" in " ".join(ranker.reasons_)
    assert ranker.score(task(seed=1)) > 0.9
    calls[:] = [0] * 4  # before anything is finished there is nothing to keep
    with pytest.raises(KeyboardInterrupt):
        pk.AutoRanker(candidates=LINEAR, n_trials=3, **FEW).fit(task())


def test_an_interrupt_while_the_blend_is_chosen_keeps_the_best_ranker(monkeypatch):
    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("plackett.experiments.auto.ranker.select", interrupted)
    with pytest.warns(PlackettWarning, match="interrupted"):
        ranker = pk.AutoRanker(candidates=LINEAR, n_trials=3, **FEW).fit(task())
    assert ranker.card_["interrupted"] and ranker.estimate_ is None
    table = ranker.leaderboard_
    assert table["weight"].to_list() == [1.0, 0.0, 0.0] and table["value"][0] == table["value"].max()
    limit = table["document_seconds"].min() / 2.0  # none is fast enough: the fastest one
    with pytest.warns(PlackettWarning, match="interrupted"):
        ranker = pk.AutoRanker(candidates=LINEAR, n_trials=3, max_score_time=limit, **FEW).fit(task())
    table = ranker.leaderboard_
    assert table.filter(pl.col("weight") == 1.0)["document_seconds"].item() == table["document_seconds"].min()


def test_a_second_interrupt_keeps_the_members_trained_so_far(monkeypatch):
    from plackett.experiments.auto import refit as module

    fit, calls = module.fit, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        fit(*arguments)

    monkeypatch.setattr(module, "fit", interrupted)
    candidate = "MART(n_estimators=4, colsample_bytree=0.5, min_child_samples=1)"
    with pytest.warns(PlackettWarning, match="interrupted"):
        ranker = pk.AutoRanker(candidates=(candidate,), n_trials=1, **FEW).fit(task())
    assert len(ranker.members_) == 1


def test_resuming_gives_the_same_ranker_without_training_again(tmp_path, monkeypatch):
    make = {"candidates": LINEAR, "n_trials": 3, **FEW}
    expected = pk.AutoRanker(**make).fit(task()).predict(task(seed=1))
    pk.AutoRanker(**make, folder=str(tmp_path)).fit(task())

    def no_training(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(CandidateTrials, "_outcome", no_training)
    again = pk.AutoRanker(**make, folder=str(tmp_path)).fit(task())
    np.testing.assert_array_equal(again.predict(task(seed=1)), expected)


def test_a_full_disk_does_not_end_the_search(tmp_path, monkeypatch):
    make = {"candidates": LINEAR, "n_trials": 3, **FEW}
    expected = pk.AutoRanker(**make).fit(task()).predict(task(seed=1))
    asked = []

    def full(path, *_):
        asked.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("plackett._files.storage.write", full)
    with pytest.warns(PlackettWarning, match="could be written there .No space left on device"):
        ranker = pk.AutoRanker(**make, folder=str(tmp_path)).fit(task())
    np.testing.assert_array_equal(ranker.predict(task(seed=1)), expected)
    assert len(asked) == 1


def test_queries_of_equal_documents_cannot_be_split():
    X, y, _ = easy_task(n_queries=1)
    data = pk.RankingDataset.from_arrays(np.tile(X, (3, 1)), np.tile(y, 3), np.repeat([1, 2, 3], len(y)))
    ranker = pk.AutoRanker(candidates=("ListNet",), n_trials=1).fit(data)
    assert "Queries that all have the same documents cannot be split" in ranker.reasons_[-1]
    assert ranker.estimate_ is None


def test_time_ends_the_search_and_the_first_training_always_runs():
    ranker = pk.AutoRanker(candidates=LINEAR, time_budget=1e-6, clock="cpu", n_jobs=1).fit(task())
    assert ranker.leaderboard_.height == 1 and "the time was up" in " ".join(ranker.reasons_)


def test_a_query_of_weight_0_is_left_out():
    X, y, qid = easy_task()
    weight = (np.arange(24) % 3 != 0).astype(float)
    kept = weight[qid] > 0
    make = {"candidates": LINEAR, "n_trials": 3, **FEW}
    expected = pk.AutoRanker(**make).fit(X[kept], y[kept], qid=qid[kept]).predict(X, qid=qid)
    result = pk.AutoRanker(**make).fit(X, y, qid=qid, query_weight=weight).predict(X, qid=qid)
    np.testing.assert_array_equal(result, expected)


def test_validation_data_are_compared_by_and_not_trained_on():
    valid = task(seed=7)
    ranker = pk.AutoRanker(candidates=LINEAR, n_trials=3, **FEW).fit(task(), eval_set=valid)
    assert set(ranker.leaderboard_["splits"]) == {1}
    assert ranker.card_["data"]["queries"] == 24
    best = max(pk.rankers()[name](n_jobs=1).fit(task()).score(valid) for name in LINEAR)
    assert ranker.leaderboard_["value"][0] == pytest.approx(best)


def test_missing_values_leave_trees_only_and_are_refused_later_by_linear_members():
    X, y, qid = easy_task()
    holes = X.copy()
    holes[::5, 3] = np.nan
    ranker = pk.AutoRanker(candidates=("ListNet", "MART(n_estimators=4)"), n_trials=2, **FEW).fit(holes, y, qid=qid)
    assert [type(member).__name__ for member in ranker.members_] == ["MART"]
    assert "missing values" in ranker.leaderboard_["error"].drop_nulls()[0]
    assert any(told.startswith("ListNet failed: X has missing values") for told in ranker.reasons_)
    linear = pk.AutoRanker(candidates=("ListNet",), n_trials=1, **FEW).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="NaN"):
        linear.predict(holes, qid=qid)
    with pytest.raises(DataError, match="X has missing values"):
        pk.AutoRanker(candidates=("ListNet",), n_trials=1, **FEW).fit(holes, y, qid=qid)


def test_a_limit_on_scoring_time():
    candidates = ("LinearRegression", "MART(n_estimators=300, learning_rate=0.05, min_child_samples=1)")
    ranker = pk.AutoRanker(candidates=candidates, n_trials=2, max_score_time=1e-9, **FEW).fit(task())
    assert [type(member).__name__ for member in ranker.members_] == ["LinearRegression"]
    assert any("Nothing scores a document within 0.001 µs: the fastest" in told for told in ranker.reasons_)
    ample = pk.AutoRanker(candidates=candidates, n_trials=2, max_score_time=1.0, **FEW).fit(task())
    assert any("what takes longer than 1,000,000 µs was left out" in told for told in ample.reasons_)


@pytest.mark.parametrize("budget", [{"n_trials": 12}, {"n_trials": None, "time_budget": 0.001}])
def test_labels_too_large_for_an_exponential_gain(budget):
    """Amounts of money as labels, with a measure that allows them: the candidates have to allow them, too."""
    data = task()
    data = data.replace(y=1000.0 * data.labels)
    ranker = pk.AutoRanker(eval_measure="nDCG(gain='linear')@10", **budget, **FEW).fit(data)
    assert ranker.leaderboard_["error"].null_count() == ranker.leaderboard_.height
    assert any(told.startswith("They are too large for the gain 2^label − 1") for told in ranker.reasons_)


def test_features_that_are_relative_to_their_list_already():
    """The quick comparison adds features with names that may be taken."""
    data = task()
    names = [f"{name} in list" if j % 2 else name for j in range(data.n_features) for name in [f"f{j // 2}"]]
    data = data.replace(feature_names=tuple(names))
    assert pk.AutoRanker(n_trials=1, **FEW).fit(data).feature_names_in_.tolist() == names


def test_the_reasons_count_the_given_features():
    X, y, qid = easy_task(n_queries=24)
    X[::5, 1] = np.nan
    ranker = pk.AutoRanker(n_trials=1, list_features=True, **FEW).fit(X, y, qid=qid)
    assert f"{X.shape[1]} features ({X.shape[1]} of them also relative to their list); lists of" in ranker.reasons_[0]
    assert any(told.startswith("1 feature has missing values") for told in ranker.reasons_)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"time_budget": None}, "both None"),
        ({"time_budget": 0}, "time_budget=0"),
        ({"n_trials": 0}, "n_trials=0"),
        ({"n_folds": 1}, "n_folds=1"),
        ({"clock": "sun"}, "clock='sun'; give one of 'wall', 'cpu'"),
        ({"max_score_time": -1.0}, "max_score_time"),
        ({"candidates": "LambdaMART"}, "candidates"),
    ],
)
def test_refusals(parameters, match):
    with pytest.raises(DataError, match=match):
        pk.AutoRanker(**parameters).fit(task())


def test_columns_of_categories_go_to_tree_rankers(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 6, 600)
    worth = np.array([2.0, -1.0, 0.5, -2.0, 1.5, 0.0])[colour] + 0.3 * rng.normal(size=600)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(np.array(list("abcdef"))[colour]),
            "x": rng.normal(size=600),
            "qid": np.repeat(range(60), 10),
        }
    )
    labels = np.digitize(worth, [0, 1])
    ranker = pk.AutoRanker(
        candidates=["ListNet", "MART(n_estimators=8)"], n_trials=2, n_folds=2, n_repeats=1, n_seeds=1
    ).fit(frame, labels)
    assert ranker.leaderboard_["ranker"].to_list() == ["MART(n_estimators=8)"]
    assert ranker.score(frame, labels) > 0.95
    ranker.save(tmp_path / "auto.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "auto.plackett").predict(frame), ranker.predict(frame))
    with pytest.raises(pk.DataError, match=r"columns of categories \(colour\) need a tree ranker"):
        pk.AutoRanker(candidates=["ListNet"], n_trials=1).fit(frame, labels)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leaderboard", None),
        ("leaderboard", [{"ranker": "ListNet"}]),
        ("leaderboard", "first row"),
        ("reasons", [1]),
        ("reasons", ["\ud800"]),
        ("estimate", 0.5),
    ],
)
def test_a_damaged_report_is_refused_when_loaded(fitted, tmp_path, name, value):
    path = tmp_path / "m.plackett"
    fitted.save(path)
    arrays, metadata = _storage.read(path, mmap=False)
    header = json.loads(metadata["ranker"])
    report = header["card"]["auto"]
    if value == "first row":
        value = [report["leaderboard"][0] | {"splits": 2**63}]
    report[name] = value
    text = json.dumps(header)
    _storage.write(path, arrays, {**metadata, "ranker": text, "digest": digest(text, arrays)})
    with pytest.raises(DataError, match=r"m\.plackett: what the search reported is damaged"):
        pk.load(path)


class Overflowing(pk.ListNet):
    """Its training ends with an error that is no ValueError."""

    def _fit(self, data, monitor):
        raise OverflowError("too large")


def test_a_first_candidate_that_fails_in_any_way_is_left_out():
    """Also where its training is timed, and where nothing can be compared."""
    candidates = [Overflowing(), "ListNet(alpha=1.0)"]
    X, y, qid = easy_task(n_queries=6)
    for queries in (qid, np.zeros_like(qid)):
        ranker = pk.AutoRanker(candidates=candidates, time_budget=1.0).fit(X, y, qid=queries)
        assert [type(member).__name__ for member in ranker.members_] == ["ListNet"]
