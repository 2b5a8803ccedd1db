"""A loaded pipeline scores as one function: the bits, errors and warnings of its steps one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett.rankers.pipelines import Pipeline
from plackett.rankers.storage import save
from plackett.scorers.fused import FusedPipeline


def table(n_queries=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8 * n_queries, 5)) * [1, 10, 0.1, 1, 5]
    y = np.clip(np.round(X[:, 0] + X[:, 2]), 0, 3)
    X[::7, 1], X[::5, 4] = np.nan, np.nan
    return X, y, rng.permutation(np.repeat([f"q{i}" for i in range(n_queries)], 8))


STEPS = {
    "imputer": lambda: [pk.Imputer("mean", add_indicator=True)],
    "query imputer, normaliser": lambda: [pk.Imputer("query-median"), pk.QueryNormalizer("zscore")],
    "all": lambda: [pk.Imputer(), pk.QueryNormalizer("rank"), pk.GreedySelector(3, n_jobs=1)],
}
RANKERS = {
    "line": lambda: pk.ListNet(max_iter=5),
    "trees": lambda: pk.LambdaMART(n_estimators=3, min_child_samples=2, n_jobs=1),
    "blend": lambda: pk.Blend(members=("LinearRegression", "MART(n_estimators=2, min_child_samples=2)"), n_jobs=1),
}


def made(steps, ranker, data, folder):
    """A pipeline that was saved and loaded."""
    estimators = []
    for step in steps:
        step.fit(data, data.y) if isinstance(step, pk.GreedySelector) else step.fit(data)
        data, estimators = step.transform(data), [*estimators, (f"step {len(estimators)}", step)]
    save(Pipeline([*estimators, ("ranker", ranker.fit(data))]), folder / "m.plackett")
    return pk.load(folder / "m.plackett")


def one_by_one(model, X, qid=None):
    """The scores as the steps give them, each by itself."""
    routed = {} if qid is None else {"qid": qid}
    for _, step in model.steps[:-1]:
        X = step.transform(X, **routed)
    return model.steps[-1][1].predict(X, **routed)


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("steps", STEPS)
def test_scores_are_those_of_the_steps_one_by_one(steps, ranker, tmp_path):
    X, y, qid = table()
    train = pk.RankingDataset.from_arrays(X, y, qid)
    model = made(STEPS[steps](), RANKERS[ranker](), train, tmp_path)
    X, y, qid = table(seed=1)
    fused = FusedPipeline.of([step for _, step in model.steps])
    for values in (X, X.astype(np.float32), np.asfortranarray(X)):
        expected = one_by_one(model, values, qid)
        assert np.array_equal(fused.predict(values, qid), expected)  # not None: it was fused
        assert np.array_equal(model.predict(values, qid=qid), expected)
    data = pk.RankingDataset.from_arrays(X, y, qid)
    assert np.array_equal(fused.predict(data), one_by_one(model, data))
    assert np.array_equal(model.predict(data), one_by_one(model, data))


def test_names_decide_the_order_of_columns(tmp_path):
    X, y, qid = table()
    names = ["a", "b", "c", "d", "e"]
    train = pk.RankingDataset.from_arrays(X, y, qid, feature_names=names)
    model = made(STEPS["all"](), RANKERS["trees"](), train, tmp_path)
    mixed = pk.RankingDataset.from_arrays(X[:, ::-1], y, qid, feature_names=names[::-1])
    assert np.array_equal(model.predict(mixed), model.predict(train))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Imputer was fitted with"):
        assert np.array_equal(model.predict(X, qid=qid), train.to_input_order(model.predict(train)))
    other = pk.RankingDataset.from_arrays(X, y, qid, feature_names=[*names[:-1], "f"])
    with pytest.raises(DataError, match="X has the feature 'f', which Imputer was not fitted on"):
        model.predict(other)


def test_errors_and_warnings_are_those_of_the_steps(tmp_path):
    X, y, qid = table()
    train = pk.RankingDataset.from_arrays(np.nan_to_num(X), y, qid)
    model = made([pk.QueryNormalizer()], RANKERS["line"](), train, tmp_path)
    infinite = np.nan_to_num(X)
    infinite[3, 2] = np.inf
    with pytest.raises(DataError, match=r"missing values \(NaN\), which ListNet does not accept"):
        model.predict(X, qid=qid)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(infinite, qid=qid)
    with pytest.raises(ValueError, match="4 features, but QueryNormalizer is expecting 5"):
        model.predict(np.nan_to_num(X)[:, :4], qid=qid)
    with pytest.raises(DataError, match="lengths differ"):
        model.predict(np.nan_to_num(X), qid=qid[:-1])
    with pytest.warns(PlackettWarning, match="no qid: all rows are treated as one query"):
        model.predict(np.nan_to_num(X))
    with pytest.raises(DataError, match="omit qid"):
        model.predict(train, qid=qid)


def test_queries_are_not_asked_for_where_they_do_not_matter(tmp_path):
    X, y, qid = table()
    model = made([pk.Imputer()], RANKERS["trees"](), pk.RankingDataset.from_arrays(X, y, qid), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict(X), model.predict(X, qid=qid))


def test_a_replaced_step_counts(tmp_path):
    X, y, qid = table()
    data = pk.RankingDataset.from_arrays(X, y, qid)
    model = made([pk.Imputer()], RANKERS["line"](), data, tmp_path)
    before = model.predict(data)
    model.steps[0] = "other", pk.Imputer("constant", fill_value=100.0).fit(data)
    assert not np.array_equal(model.predict(data), before)
    assert np.array_equal(model.predict(data), one_by_one(model, data))
