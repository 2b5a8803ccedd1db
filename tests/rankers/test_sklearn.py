"""Rankers inside scikit-learn's tools, with query ids routed and in a column."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import plackett as pk
from plackett import PlackettWarning
from plackett.evaluation.evaluate import evaluate
from plackett.rankers import storage
from plackett.rankers.scorer import scorer

NO_WEIGHTS = "a list weighs its documents together, and weights are not counts there"
FAILURES = {"check_dtype_object": "the message names X and says what is wrong, in other words than scikit-learn's"}
#: A document of weight 2 is one document in a leaf, two copies of it are two, and so few documents make the difference.
LEAVES_COUNT_DOCUMENTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "min_child_samples counts documents, whatever they weigh"
    for kind in ("dense", "sparse")
}
RANKERS = [
    (pk.rankers.LambdaMART(n_estimators=4, n_jobs=1), LEAVES_COUNT_DOCUMENTS),
    (pk.rankers.MART(n_estimators=4, n_jobs=1), LEAVES_COUNT_DOCUMENTS),
    (
        pk.rankers.McRank(n_estimators=3, n_jobs=1),
        dict.fromkeys(
            ("check_estimator_sparse_matrix", "check_estimator_sparse_array"),
            "predict_proba gives probabilities of grades; that makes no classifier of a ranker",
        )
        | LEAVES_COUNT_DOCUMENTS,
    ),
    (
        pk.rankers.ListNet(max_iter=20),
        {f"check_sample_weight_equivalence_on_{kind}_data": NO_WEIGHTS for kind in ("dense", "sparse")},
    ),
    (pk.rankers.LinearRegression(), {}),
    (pk.rankers.PairHinge(max_iter=5), {}),
    (pk.rankers.GradientRanker(), {}),
]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def task():
    """Lists in mixed row order, each on a level of its own, which query normalisation takes away."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(30), 10))
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    X += 100 * rng.normal(size=(30, 3))[qid]
    return X, y, qid


def frame_of(task):
    X, _, qid = task
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(1, "qid", [f"query {q}" for q in qid])
    return frame


@pytest.mark.parametrize(("ranker", "failures"), RANKERS, ids=lambda value: type(value).__name__)
def test_check_estimator(ranker, failures):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks give no query ids
        results = check_estimator(ranker, on_fail=None)
    failed = {entry["check_name"] for entry in results if entry["status"] == "failed"}
    assert failed == set(FAILURES | failures)
    assert len(results) > 40


# ------------------------------------------------------------------------------------------------------------ scorer


def test_scorer_is_the_measure(task):
    X, y, qid = task
    ranker = pk.rankers.ListNet().fit(X, y, qid=qid)
    data = pk.RankingDataset.from_arrays(X, y, qid)
    expected = evaluate(data, ranker.predict(data), ["AP", "nDCG@3", "ARP"]).mean
    assert scorer("AP")(ranker, X, y, qid=qid) == expected["AP"]
    assert scorer("ndcg@3")(ranker, X, y, qid=qid.astype(str)) == pytest.approx(expected["nDCG@3"], rel=1e-12)
    assert scorer("ARP")(ranker, data) == -expected["ARP"]  # less is better
    assert repr(scorer("nDCG@10")) == 'scorer("nDCG@10")'
    with pytest.raises(ValueError, match="nDCQ"):
        scorer("nDCQ@10")


def test_scorer_without_ids_names_the_switch(task):
    X, y, qid = task
    ranker = pk.rankers.ListNet().fit(X, y, qid=qid)
    with pytest.raises(
        ValueError, match=r"sklearn\.set_config\(enable_metadata_routing=True\): routing is switched off"
    ):
        scorer("AP")(ranker, X, y)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="qid= ") as raised:
        scorer("AP")(ranker, X, y)
    assert "switched off" not in str(raised.value)


def test_search_without_routing_says_why_it_scores_nan(task):
    """scikit-learn turns the error of a scorer into NaN and a warning; the warning must name the switch."""
    X, y, qid = task
    search = GridSearchCV(
        pk.rankers.ListNet(), {"alpha": [0.1]}, cv=pk.QueryKFold(2), scoring=scorer("AP"), refit=False
    )
    with pytest.warns(UserWarning, match=r"enable_metadata_routing=True") as caught:
        search.fit(X, y, groups=qid, qid=qid)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    assert any("routing is switched off" in str(w.message) for w in caught)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        cross_validate(pk.rankers.ListNet(), X, y, params={"qid": qid}, cv=pk.QueryKFold(2))


def test_set_score_request(task, routing):
    X, y, qid = task
    ranker = pk.rankers.ListNet().set_fit_request(qid="query")
    result = cross_val_score(
        ranker,
        X,
        y,
        params={"query": qid},
        cv=pk.QueryKFold(3).set_split_request(qid="query"),
        scoring=scorer("AP").set_score_request(qid="query"),
    )
    plain = cross_val_score(pk.rankers.ListNet(), X, y, params={"qid": qid}, cv=pk.QueryKFold(3), scoring=scorer("AP"))
    np.testing.assert_array_equal(result, plain)
    with pytest.raises(TypeError, match="sample_weight"):
        scorer("AP").set_score_request(sample_weight=True)


# ----------------------------------------------------------------------------------------------------- routed ids


def by_hand(task, make, measure="nDCG@10"):
    """Cross-validation by plain calls of plackett."""
    X, y, qid = task
    values = []
    for train, test in pk.QueryKFold(3).split(X, y, qid=qid):
        data = pk.RankingDataset.from_arrays(X, y, qid)
        normal = pk.QueryNormalizer().fit_transform(X, qid=qid)
        data = pk.RankingDataset.from_arrays(normal[test], y[test], qid[test])
        ranker = make().fit(normal[train], y[train], qid=qid[train])
        values.append(evaluate(data, ranker.predict(data), [measure]).mean[measure])
    return values


def test_routed(task, routing):
    X, y, qid = task
    pipeline = make_pipeline(pk.QueryNormalizer(), pk.rankers.ListNet())
    options = {"params": {"qid": qid}, "cv": pk.QueryKFold(3)}
    expected = by_hand(task, pk.rankers.ListNet)
    np.testing.assert_allclose(cross_val_score(pipeline, X, y, scoring=scorer("nDCG@10"), **options), expected)
    np.testing.assert_allclose(cross_val_score(pipeline, X, y, **options), expected)  # the ranker's own score
    both = cross_validate(pipeline, X, y, scoring={"a": scorer("AP"), "b": scorer("nDCG@10")}, **options)
    np.testing.assert_allclose(both["test_a"], by_hand(task, pk.rankers.ListNet, "AP"))
    np.testing.assert_allclose(both["test_b"], expected)
    assert np.mean(expected) > 0.95


def test_search(task, routing):
    X, y, qid = task
    pipeline = make_pipeline(pk.QueryNormalizer(), pk.rankers.LambdaMART(num_leaves=4, n_jobs=1))
    grid = {"lambdamart__n_estimators": [1, 6], "querynormalizer__method": ["minmax", "zscore"]}
    search = GridSearchCV(pipeline, grid, cv=pk.QueryKFold(3), scoring=scorer("nDCG@10")).fit(X, y, qid=qid)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) > 0.9
    best = search.best_estimator_
    assert search.score(X, y, qid=qid) == scorer("nDCG@10")(best, X, y, qid=qid) > search.best_score_ - 0.05
    scores = best.predict(X, qid=qid)
    rows = np.random.default_rng(1).permutation(y.size)
    np.testing.assert_array_equal(best.predict(X[rows], qid=qid[rows]), scores[rows])


def test_weights_are_routed(task, routing):
    X, y, qid = task
    weight = np.random.default_rng(0).uniform(0.1, 2, y.size)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), pk.rankers.LinearRegression())
    result = pipeline.fit(X, y, qid=qid, sample_weight=weight).predict(X, qid=qid)
    scaled = StandardScaler().fit_transform(X)
    expected = pk.rankers.LinearRegression().fit(scaled, y, qid=qid, sample_weight=weight).predict(scaled)
    np.testing.assert_array_equal(result, expected)


# ------------------------------------------------------------------------------------------------- a column of ids


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_column(task, library):
    """Without routing: the column finds its way by itself."""
    frame, y = frame_of(task), task[1]
    frame = frame if library is pd.DataFrame else pl.from_pandas(frame)
    pipeline = make_pipeline(pk.QueryNormalizer(), pk.rankers.ListNet())
    result = cross_val_score(pipeline, frame, y, cv=pk.QueryKFold(3), scoring=scorer("nDCG@10"))
    np.testing.assert_allclose(result, by_hand(task, pk.rankers.ListNet))
    search = GridSearchCV(pipeline, {"listnet__alpha": [1e-4, 1.0]}, cv=pk.QueryKFold(3)).fit(frame, y)
    assert search.best_score_ > 0.95
    np.testing.assert_array_equal(search.predict(frame), search.best_estimator_.predict(frame))


def test_column_past_scalers(task):
    """scikit-learn's own transformers would trip over string ids: a ColumnTransformer leads the column past them."""
    frame, y = frame_of(task), task[1]
    with pytest.raises(ValueError, match="could not convert"):
        make_pipeline(StandardScaler(), pk.rankers.ListNet()).fit(frame, y)
    scale = ColumnTransformer(
        [("scale", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scale, pk.QueryNormalizer("zscore"), pk.rankers.ListNet()).fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    assert pipeline.score(frame, y) > 0.95
    assert scorer("nDCG@10")(pipeline, frame, y) == pipeline.score(frame, y)


def test_pipeline_without_ids_warns(task):
    X, y, _ = task
    with pytest.warns(PlackettWarning, match="enable_metadata_routing=True"):
        make_pipeline(StandardScaler(), pk.rankers.ListNet()).fit(X, y)


# ---------------------------------------------------------------------------------------------------------- storage


def test_pipeline_on_disk(task, tmp_path):
    frame, y = frame_of(task), task[1]
    pipeline = make_pipeline(pk.QueryNormalizer("rank"), pk.rankers.LambdaMART(n_estimators=3, n_jobs=1)).fit(frame, y)
    storage.save(pipeline, tmp_path / "p.plackett")
    loaded = storage.load(tmp_path / "p.plackett")
    assert repr(loaded) == repr(pipeline) and [name for name, _ in loaded.steps] == [name for name, _ in pipeline.steps]
    np.testing.assert_array_equal(loaded.predict(frame), pipeline.predict(frame))
    assert loaded[0].get_feature_names_out().tolist() == pipeline[0].get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="feature"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_pipeline_of_others_is_refused(task, tmp_path):
    X, y, qid = task
    pipeline = make_pipeline(StandardScaler(), pk.rankers.ListNet())
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="step 'standardscaler' of the pipeline is a StandardScaler"):
        storage.save(pipeline, tmp_path / "p.plackett")
    with pytest.raises(ValueError, match="StandardScaler cannot be saved"):
        storage.save(StandardScaler(), tmp_path / "p.plackett")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------- datasets in pipelines


@pytest.mark.parametrize("enabled", [False, True])
def test_pipelines_of_ours_take_datasets(task, enabled):
    X, y, qid = task
    data = pk.RankingDataset.from_arrays(X, y, qid)
    with sklearn.config_context(enable_metadata_routing=enabled):
        pipeline = make_pipeline(pk.QueryNormalizer(), pk.rankers.ListNet()).fit(data)
        expected = pk.rankers.ListNet().fit(pk.QueryNormalizer().fit_transform(data))
        np.testing.assert_array_equal(
            pipeline.predict(data), expected.predict(pk.QueryNormalizer().fit_transform(data))
        )


def test_scikit_learns_tools_say_what_to_give_them(task):
    X, y, qid = task
    data = pk.RankingDataset.from_arrays(X, y, qid)
    for call in (
        lambda: make_pipeline(StandardScaler(), pk.rankers.ListNet()).fit(data),
        lambda: GridSearchCV(pk.rankers.ListNet(), {"alpha": [0.1]}, cv=pk.QueryKFold(3)).fit(data),
        lambda: cross_validate(pk.rankers.ListNet(), data),
    ):
        with pytest.raises(ValueError, match=r"data\.X, data\.y and qid=data\.qid"):
            call()


def test_pipelines_hand_on_callbacks_and_contributions(task, routing):
    X, y, qid = task
    seen = []
    pipeline = make_pipeline(pk.QueryNormalizer(), pk.rankers.ListNet(max_iter=3))
    pipeline.fit(X, y, qid=qid, callbacks=[seen.append])
    assert seen
    parts = pipeline.predict(X, qid=qid, pred_contrib=True)
    np.testing.assert_allclose(parts.sum(axis=1), pipeline.predict(X, qid=qid), rtol=1e-10)
