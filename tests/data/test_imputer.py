from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett._files import storage as _storage
from plackett.data.imputer import STRATEGIES, Imputer
from plackett.scorers.model import digest


def table(seed=0, n=60, holes=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 3] = rng.random(n) < 0.4
    X[rng.random(X.shape) < holes] = np.nan
    X[:, 2] = rng.normal(size=n)  # nothing is missing here
    return X, np.array([f"q{i}" for i in rng.integers(0, 8, n)])


@pytest.mark.parametrize("strategy", ["median", "mean", "constant"])
@pytest.mark.parametrize("indicator", [False, True])
def test_equals_the_imputer_of_scikit_learn(strategy, indicator):
    X, _ = table()
    theirs = SimpleImputer(
        strategy=strategy, fill_value=-3.5 if strategy == "constant" else None, add_indicator=indicator
    )
    ours = Imputer(strategy, fill_value=-3.5, add_indicator=indicator)
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-12)
    new = table(1)[0]
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-12)


@pytest.mark.parametrize("strategy", ["median", "mean", "constant"])
@pytest.mark.parametrize("indicator", [False, True])
def test_sparse_tables_stay_sparse_and_their_zeros_are_values(strategy, indicator):
    X, _ = table()
    X[X > 0.5] = 0.0
    result = Imputer(strategy, fill_value=2.0, add_indicator=indicator).fit_transform(csr_matrix(X))
    expected = Imputer(strategy, fill_value=2.0, add_indicator=indicator).fit_transform(X)
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-12)


def test_medians_of_queries():
    X, qid = table()
    X[qid == "q3", 0] = np.nan
    result = Imputer("query-median").fit_transform(X, qid=qid)
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        for j in range(4):
            known = X[rows, j][~np.isnan(X[rows, j])]
            fill = np.median(known) if known.size else np.nanmedian(X[:, j])
            np.testing.assert_allclose(result[rows, j], np.where(np.isnan(X[rows, j]), fill, X[rows, j]))
    with pytest.warns(PlackettWarning, match="no qid"):
        Imputer("query-median").fit_transform(X)
    with pytest.raises(DataError, match="sparse"):
        Imputer("query-median").fit(csr_matrix(X))


def test_frames_and_datasets_give_the_same_and_keep_names():
    X, qid = table()
    names = ["a", "b", "c", "d"]
    expected = Imputer("query-median", add_indicator=True).fit_transform(X.astype(np.float32), qid=qid)
    out = [*names, "missing a", "missing b", "missing d"]
    for frame in (pd.DataFrame(X.astype(np.float32), columns=names), pl.DataFrame(X.astype(np.float32), schema=names)):
        with_qid = frame.assign(qid=qid) if isinstance(frame, pd.DataFrame) else frame.with_columns(qid=pl.Series(qid))
        result = Imputer("query-median", add_indicator=True).fit_transform(with_qid)
        assert [name for name in result.columns if name != "qid"] == out and list(result["qid"]) == list(qid)
        np.testing.assert_allclose(result[out].to_numpy(), expected, rtol=1e-6)
    data = pk.RankingDataset.from_arrays(X, np.zeros(60), qid, feature_names=names)
    imputer = Imputer("query-median", add_indicator=True).fit(data)
    result = imputer.transform(data)
    assert result.feature_names == tuple(out) and imputer.get_feature_names_out().tolist() == out
    np.testing.assert_allclose(data.to_input_order(result.X), expected, rtol=1e-6)


def test_features_of_a_dataset_are_found_by_name():
    X, qid = table()
    data = pk.RankingDataset.from_arrays(X, np.zeros(60), qid, feature_names=["a", "b", "c", "d"])
    other = data.replace(X=data.X[:, ::-1].copy(), feature_names=("d", "c", "b", "a"))
    imputer = Imputer().fit(data)
    np.testing.assert_array_equal(imputer.transform(other).X, imputer.transform(data).X)
    with pytest.raises(DataError, match="'z'"):
        imputer.transform(data.replace(feature_names=("a", "b", "c", "z")))
    with pytest.raises(DataError, match="3 features, but Imputer is expecting 4"):
        imputer.transform(data.replace(X=data.X[:, :3], feature_names=None))


def test_a_feature_without_values_is_constant():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert Imputer(fill_value=7.0).fit_transform(X).tolist() == [[7.0, 1.0], [7.0, 2.0]]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.filterwarnings("ignore:no qid")
def test_check_estimator(strategy):
    check_estimator(Imputer(strategy))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"strategy": "mode"}, "'median', 'mean'"), ({"fill_value": np.inf}, "finite"), ({"fill_value": "a"}, "finite")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(DataError, match=message):
        Imputer(**parameters).fit([[1.0]])


# ---------------------------------------------------------------------------------------------------- in a pipeline


def task():
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(20), 10)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 0] - X[:, 1], [-0.5, 1.0])
    X[rng.random(X.shape) < 0.15] = np.nan
    return pk.RankingDataset.from_arrays(X, y, qid, feature_names=["a", "b", "c", "d"])


def test_a_ranker_that_refuses_missing_values_names_it():
    with pytest.raises(DataError, match=r"ListNet does not accept; .*pk\.Imputer\(\)"):
        pk.ListNet().fit(task())


@pytest.mark.parametrize("parameters", [{}, {"strategy": "query-median", "add_indicator": True}])
def test_saved_with_the_model(tmp_path, parameters):
    data = task()
    pipeline = make_pipeline(Imputer(**parameters), pk.QueryNormalizer(), pk.ListNet()).fit(data)
    pk.save(pipeline, tmp_path / "p.plackett")
    loaded = pk.load(tmp_path / "p.plackett")
    np.testing.assert_array_equal(loaded.predict(data), pipeline.predict(data))
    assert loaded[0].get_params() == pipeline[0].get_params()
    frame = data.to_polars().drop("label").to_pandas()
    np.testing.assert_allclose(
        loaded.predict(frame), pipeline.predict(frame), rtol=0
    )  # its statistics are stored to the last digit


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("statistics_", [0.0]),
        ("statistics_", [0.0, "x", 0.0, 0.0]),
        ("statistics_", [0.0, float("inf"), 0.0, 0.0]),
        ("indicator_features_", [9]),
        ("indicator_features_", [[0]]),
        ("n_features_in_", 10**9),
    ],
)
def test_damaged_numbers_are_refused(tmp_path, key, value):
    pk.save(make_pipeline(Imputer(), pk.ListNet()).fit(task()), tmp_path / "p.plackett")
    arrays, metadata = _storage.read(tmp_path / "p.plackett", mmap=False)
    header = json.loads(metadata["ranker"])
    header["pipeline"][0]["fitted"][key] = value
    text = json.dumps(header)
    tokens = {"kind": "model", "ranker": text, "digest": digest(text, arrays)}
    _storage.write(tmp_path / "bad.plackett", arrays, tokens)
    with pytest.raises(DataError, match="bad.plackett"):
        pk.load(tmp_path / "bad.plackett")


def test_in_an_experiment_the_ranker_is_tuned_and_stops_early():
    """A pipeline of our own steps gets the queries (no warning), its search space and the validation part."""
    data = task()
    rankers = {
        "plain": make_pipeline(Imputer("query-median"), pk.LinearRegression()),
        "trees": make_pipeline(Imputer("query-median"), pk.LambdaMART(n_estimators=5, min_child_samples=1)),
    }
    result = pk.experiment(data, rankers, ["nDCG@5"], folds=3, n_trials=2, n_jobs=1)
    assert not result.failures and result.trials.height == 12
    cell = result.cell("trees", next(iter(result.folds["data"])))
    assert cell.history.size == 5 and cell.effort == "lambdamart__n_estimators"
    assert set(cell.trials[1].setting) <= {f"lambdamart__{name}" for name in pk.LambdaMART.search_space}
    split = result.folds["data"][cell.fold]
    model = cell.model()  # it was saved
    np.testing.assert_allclose(model.predict(split.test.replace(y=None)), cell.scores, rtol=1e-12)
    imputer = Imputer("query-median").fit(split.train)
    np.testing.assert_array_equal(model[0].statistics_, imputer.statistics_)  # learned from the training part only


def test_routing(tmp_path):
    data = task()
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(Imputer("query-median"), pk.ListNet()).fit(data.X, data.y, qid=data.qid)
        scores = pipeline.predict(data.X, qid=data.qid)
    expected = make_pipeline(Imputer("query-median"), pk.ListNet()).fit(data).predict(data)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
