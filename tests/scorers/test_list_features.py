"""Features relative to their list, next to the features themselves."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett.experiments.auto import list_features
from plackett.experiments.auto.inspection import inspect_data
from plackett.experiments.auto.list_features import gain_of_list_features
from plackett.measures.language import parse
from plackett.scorers.list_features import ListFeaturesScorer, relative_columns, widened

NAN = np.nan


def shifted(n_queries=30, seed=0, **keywords):
    """Values that say nothing across queries: each query adds a large number of its own to the one useful feature."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 10)
    useful = rng.normal(size=qid.size)
    wanted = useful + 0.3 * np.random.default_rng([seed, 1]).normal(size=qid.size)  # no feature is the label itself
    y = (wanted > 0.5).astype(int) + (wanted > 1.2)
    X = np.column_stack([useful + 20 * rng.normal(size=n_queries)[qid], rng.normal(size=qid.size), qid % 7])
    return pk.RankingDataset.from_arrays(X, y, qid, **keywords)


def test_columns_that_are_constant_in_every_list_are_left_out():
    X = [[1, 5, NAN, 1], [2, 5, NAN, NAN], [3, 6, NAN, NAN], [3, 6, NAN, 2]]
    data = pk.RankingDataset.from_arrays(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert relative_columns(data).tolist() == [0]
    assert relative_columns(data, (0,)).tolist() == []
    one = pk.RankingDataset.from_arrays([[1.0], [NAN], [2.0]], [0, 1, 0], qid=[1, 1, 1])
    assert relative_columns(one).tolist() == [0]  # the values that differ need not be next to each other


def test_wide_features_are_the_standard_scores_of_each_list():
    data = shifted(feature_names=["a", "b", "c"])
    wide = widened(data, np.array([0, 1]))
    assert wide.feature_names == ("a", "b", "c", "a in list", "b in list")
    np.testing.assert_array_equal(wide.X[:, :3], data.X)
    for lo, hi in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        own = data.X[lo:hi, :2].astype(float)
        np.testing.assert_allclose(wide.X[lo:hi, 3:], (own - own.mean(axis=0)) / own.std(axis=0, ddof=1), atol=2e-5)
    with pytest.raises(DataError, match="'a in list' already"):
        widened(shifted(feature_names=["a", "b", "a in list"]), np.array([0]))


@pytest.fixture(scope="module")
def fitted():
    return pk.AutoRanker(
        candidates=("ListNet(alpha=1.0)", "MART(n_estimators=20)"),
        n_trials=2,
        n_folds=3,
        n_repeats=1,
        list_features=True,
    ).fit(shifted())


def test_list_features_help_where_queries_shift_the_values(fitted):
    plain = pk.AutoRanker(
        candidates=("ListNet(alpha=1.0)", "MART(n_estimators=20)"), n_trials=2, n_folds=3, n_repeats=1
    ).fit(shifted())
    new = shifted(seed=1)
    with_them, without = (pk.evaluate(new, r.predict(new), ["nDCG@10"]).mean["nDCG@10"] for r in (fitted, plain))
    assert with_them > 0.9 > without
    assert fitted.n_features_in_ == 3 and all(member.n_features_in_ == 5 for member in fitted.members_)


def test_scores_do_not_depend_on_how_lists_are_read_and_survive_saving(fitted, tmp_path):
    new = shifted(seed=2)
    scores = fitted.predict(new)
    order = np.random.default_rng(0).permutation(new.n_rows)
    qid = np.repeat(new.qids, new.group)
    np.testing.assert_allclose(fitted.predict(new.X[order], qid=qid[order]), scores[order], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(new.select(np.array([4]))), scores[new.offsets[4] : new.offsets[5]])
    fitted.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    np.testing.assert_array_equal(loaded.predict(new), scores)
    sparse = new.replace(X=csr_matrix(new.X))
    np.testing.assert_array_equal(loaded.predict(sparse), scores)
    assert pk.explain(loaded, new, 3).method == "sampling"
    with pytest.warns(PlackettWarning, match="whole lists"):
        loaded.predict(new.X)


def test_blocks_of_queries_score_like_all_at_once(fitted, monkeypatch):
    new = shifted(seed=2)
    scores = fitted.predict(new)
    monkeypatch.setattr("plackett.data.mapped.BLOCK_ROWS", 25)
    np.testing.assert_array_equal(fitted.predict(new), scores)


def test_what_cannot_be_done_is_refused(fitted, tmp_path):
    with pytest.raises(DataError, match="one document at a time; train it without \\(list_features=False"):
        pk.export.write_vespa(fitted, tmp_path / "never.txt")
    with pytest.raises(DataError, match="one document at a time; train it without \\(list_features=False"):
        pk.write_ranklib(fitted, tmp_path / "never.txt")
    with pytest.raises(DataError, match="sparse features dense"):
        pk.AutoRanker(n_trials=1, list_features=True).fit(shifted().replace(X=csr_matrix(shifted().X)))
    arrays = fitted.scorer_.to_arrays()
    for name, wrong in {"columns": np.array([0, 5]), "n_features": np.array([7])}.items():
        with pytest.raises(DataError, match="damaged"):
            ListFeaturesScorer.from_arrays(arrays | {name: wrong})


def test_missing_values_categories_and_validation_data():
    data = shifted(feature_names=["a", "b", "c"])
    X = data.X.copy()
    X[::7, 1] = NAN
    data, valid = data.replace(X=X), shifted(seed=3, feature_names=["a", "b", "c"])
    ranker = pk.AutoRanker(candidates=("MART(n_estimators=20)",), n_trials=1, list_features=True)
    ranker.fit(data, eval_set=valid)
    assert np.isfinite(ranker.predict(data)).all()
    assert ranker.history_[-1] == pytest.approx(ranker.score(valid))


def test_a_clear_gain_is_mentioned_and_others_are_not():
    few = {"n_trials": 1, "n_folds": 2, "n_repeats": 1}
    advice = [text for text in pk.AutoRanker(**few).fit(shifted()).reasons_ if "relative to their list" in text]
    assert len(advice) == 1 and "list_features=True" in advice[0]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    alike = pk.RankingDataset.from_arrays(X, (X @ [1.0, 0.4] > 0.7).astype(int), np.repeat(np.arange(20), 10))
    assert not any("relative to their list" in text for text in pk.AutoRanker(**few).fit(alike).reasons_)


@pytest.mark.parametrize(
    "member",
    [pk.TwoLayer(base="LinearRegression"), pk.RelationalFeedback(base="LinearRegression", relation="near", beta=1)],
    ids=["query features", "relations"],
)
def test_members_that_need_more_than_features_get_it(member, tmp_path, monkeypatch):
    data = shifted()
    near = pk.Neighbours(k=2)(data)
    data = data.replace(query_features=np.random.default_rng(0).normal(size=(30, 2)), relations={"near": near})
    ranker = pk.AutoRanker(candidates=[member], n_trials=1, n_folds=2, n_repeats=1, list_features=True).fit(data)
    scorer = ranker.scorer_
    expected = scorer.blend.factors[0] * ranker.members_[0].predict(widened(data, scorer.columns))
    np.testing.assert_array_equal(ranker.predict(data), expected)
    ranker.save(tmp_path / "m.plackett")
    monkeypatch.setattr("plackett.data.mapped.BLOCK_ROWS", 25)
    np.testing.assert_allclose(pk.load(tmp_path / "m.plackett").predict(data), expected, rtol=1e-6)


def test_columns_whose_differences_overflow_are_refused(fitted):
    arrays = fitted.scorer_.to_arrays()
    most = np.iinfo(np.int64).max
    with pytest.raises(DataError, match="below 0"):
        ListFeaturesScorer.from_arrays(arrays | {"columns": np.array([most - 1, -most - 1, -1])})


def compared(data, seconds=None, clock=time.perf_counter):
    """The quick comparison of a dataset."""
    measure = parse("nDCG@10")
    return gain_of_list_features(data, inspect_data(data), measure, random_state=0, seconds=seconds, clock=clock)


def test_a_comparison_that_cannot_be_made_does_not_end_the_search(monkeypatch):
    def fails(*_):
        raise DataError("cannot learn from such data")

    few = {"n_trials": 1, "n_folds": 2, "n_repeats": 1}
    assert any("relative to their list" in text for text in pk.AutoRanker(**few).fit(shifted()).reasons_)
    monkeypatch.setattr(list_features, "fit", fails)
    assert not any("relative to their list" in text for text in pk.AutoRanker(**few).fit(shifted()).reasons_)


def test_large_labels_are_compared_with_a_linear_gain():
    large = shifted().replace(y=2000 * shifted().labels)
    ranker = pk.AutoRanker(n_trials=5, n_folds=2, n_repeats=1, eval_measure="AP").fit(large)
    assert any("relative to their list" in text for text in ranker.reasons_)
    assert ranker.leaderboard_["error"].null_count() == ranker.leaderboard_.height


def test_the_comparison_takes_part_of_large_data(monkeypatch):
    sizes = []
    monkeypatch.setattr(list_features, "ROWS", 95)
    monkeypatch.setattr(list_features, "widened", lambda data, *rest: sizes.append(data.n_rows) or widened(data, *rest))
    assert compared(shifted()) is not None and sizes == [90]
    monkeypatch.setattr(list_features, "ROWS", 35)  # three lists are too few
    assert compared(shifted()) is None


def test_copies_of_queries_do_not_make_the_comparison_more_certain():
    once = shifted(n_queries=12)
    X, labels, qid = np.tile(once.X, (4, 1)), np.tile(once.labels, 4), np.repeat(np.arange(48), 10)
    repeated = pk.RankingDataset.from_arrays(X, labels, qid)
    assert compared(repeated).error > 0.75 * compared(once).error  # half of it if copies counted as queries


def test_the_comparison_ends_when_it_takes_too_long():
    """On a clock that goes a second forward at each look, at the first ranker or at the second."""
    count = itertools.count()
    assert compared(shifted(), 1e6, lambda: float(next(count))) is not None
    needed = next(count)
    for share in (0.05, 0.8):
        count = itertools.count()
        assert compared(shifted(), 20 * share * needed, lambda count=count: float(next(count))) is None
        assert share * needed <= next(count) < (share + 0.1) * needed


def test_categories_are_not_compared_within_lists():
    """Neither those of a frame nor those that a candidate names."""
    pd = pytest.importorskip("pandas")
    data = shifted()
    kind = np.arange(data.n_rows) % 4
    frame = pd.DataFrame(data.X[:, :2], columns=["a", "b"]).assign(c=kind, d=pd.Categorical(kind.astype(str)))
    own = pk.LambdaMART(n_estimators=3, categorical_features=("c",))
    few = {"n_trials": 1, "n_folds": 2, "n_repeats": 1, "list_features": True}
    ranker = pk.AutoRanker(candidates=[own], **few).fit(frame, data.labels, qid=data.query_of_row)
    assert ranker.scorer_.columns.tolist() == [0, 1]
    assert list(ranker.members_[0].feature_names_in_) == ["a", "b", "c", "d", "a in list", "b in list"]
