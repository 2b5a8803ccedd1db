from __future__ import annotations

import json
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import plackett as pk
from plackett import DataError
from plackett.data.estimators import build, fit, predict
from plackett.data.kfold import QueryKFold
from plackett.data.letor import read_letor
from plackett.data.splits import Fold, letor_folds
from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.experiments.cross_validate import cross_validate
from plackett.experiments.settings import expand_settings


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(31), 8))  # parts of unequal size
    X = rng.normal(size=(qid.size, 5))
    y = np.clip(np.rint(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 1, qid.size)), 0, 2)
    return pk.RankingDataset.from_arrays(X, y, np.char.add("q", qid.astype(str)))


ALPHAS = [0.01, 10.0, 300.0]


def by_hand(data, select, measure):
    """The protocol in plain steps: (setting, validation value, test values) of each fold."""
    for fold in letor_folds(data):
        models = [Ridge(alpha=alpha).fit(fold.train.X, fold.train.y) for alpha in ALPHAS]
        values = [pk.evaluate(fold.valid, m.predict(fold.valid.X), select).mean[select] for m in models]
        best = int(np.argmax(values))
        test = pk.evaluate(fold.test, models[best].predict(fold.test.X), measure)
        yield {"alpha": ALPHAS[best]}, values, test


def test_protocol_by_hand(data):
    result = cross_validate(data, Ridge(), ["nDCG@5", "AP"], settings={"alpha": ALPHAS}, select="nDCG@3")
    hand = list(by_hand(data, "nDCG@3", "nDCG@5"))
    assert result.best_settings == [setting for setting, _, _ in hand]
    assert result.trials["validation"].to_list() == pytest.approx([v for _, values, _ in hand for v in values])
    assert result.folds["nDCG@5"].to_list() == pytest.approx([test.mean["nDCG@5"] for _, _, test in hand])
    assert result.folds["validation"].to_list() == pytest.approx([max(values) for _, values, _ in hand])
    per_query = np.concatenate([test.values["nDCG@5"] for _, _, test in hand])
    np.testing.assert_allclose(result.per_query["nDCG@5"].to_numpy(), per_query)
    assert result.per_query["qid"].to_list() == [q for _, _, test in hand for q in test.qids.tolist()]
    assert result.trials["selected"].sum() == 5 and result.trials.height == 15


def test_two_means(data):
    result = cross_validate(data, Ridge(), "AP")
    fold_means = result.per_query.group_by("fold").agg(pl.col("AP").mean())["AP"]
    assert result.mean["AP"] == pytest.approx(fold_means.mean())
    assert result.mean_over_queries["AP"] == pytest.approx(result.per_query["AP"].mean())
    assert result.mean["AP"] != result.mean_over_queries["AP"]  # parts of 7 and of 6 queries
    assert sorted(result.qids.tolist()) == sorted(data.qids.tolist())  # each query is tested once


def test_settings_as_a_list_and_select_a_falling_measure(data):
    result = cross_validate(data, Ridge(), "AP", settings=[{"alpha": 1.0}, {"alpha": 1e6}], select="ARP", folds=3)
    for fold in result.trials.partition_by("fold"):
        assert fold.filter(fold["selected"])["validation"].item() == fold["validation"].min()


def test_equal_settings_select_the_first(data):
    result = cross_validate(data, Ridge(), "AP", settings={"copy_X": [True, False]}, folds=3)
    assert result.best_settings == [{"copy_X": True}] * 3


def test_preset_reaches_measures_and_selection(data):
    result = cross_validate(data, Ridge(), "nDCG@3", preset="letor4", settings={"alpha": ALPHAS}, select="nDCG@3")
    model = Ridge(alpha=result.best_settings[0]["alpha"])
    fold = letor_folds(data)[0]
    model.fit(fold.train.X, fold.train.y)
    for part, value in ((fold.valid, result.folds["validation"][0]), (fold.test, result.folds["nDCG@3"][0])):
        expected = pk.evaluate(part, model.predict(part.X), "nDCG@3", preset="letor4").mean["nDCG@3"]
        assert value == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------------------- rankers


def test_lightgbm_ranker_is_given_groups(data):
    params = {"n_estimators": 5, "min_child_samples": 2, "verbose": -1, "n_jobs": 1}
    result = cross_validate(data, lgb.LGBMRanker(**params), "nDCG", keep_rankers=True)
    fold = letor_folds(data)[2]
    model = lgb.LGBMRanker(**params, random_state=0).fit(fold.train.X, fold.train.y, group=fold.train.group)
    np.testing.assert_array_equal(result.rankers[2].predict(fold.test.X), model.predict(fold.test.X))
    expected = pk.evaluate(fold.test, model.predict(fold.test.X), "nDCG")
    np.testing.assert_array_equal(result.evaluations[2].values["nDCG"], expected.values["nDCG"])


def test_lightgbm_early_stopping(data):
    ranker = lgb.LGBMRanker(n_estimators=60, min_child_samples=2, learning_rate=0.5, verbose=-1, n_jobs=1)
    stop = {"callbacks": [lgb.early_stopping(2, verbose=False)]}
    result = cross_validate(
        data, ranker, "nDCG", early_stopping=True, fit_params=stop, keep_rankers=True, folds=3, select="nDCG"
    )
    assert all(0 < model.best_iteration_ < 60 for model in result.rankers)


def test_xgboost_ranker_is_given_query_numbers(data):
    xgb = pytest.importorskip("xgboost")
    ranker = xgb.XGBRanker(n_estimators=3, n_jobs=1)
    model = fit(build(ranker, {"max_depth": 2}), data)
    expected = xgb.XGBRanker(n_estimators=3, n_jobs=1, max_depth=2).fit(data.X, data.y, group=data.group)
    np.testing.assert_array_equal(predict(model, data), expected.predict(data.X))


def test_regressor_pipeline_and_factory(data):
    one = cross_validate(data, make_pipeline(StandardScaler(), Ridge()), "AP", settings={"ridge__alpha": [1.0, 50.0]})
    two = cross_validate(
        data, lambda alpha: make_pipeline(StandardScaler(), Ridge(alpha=alpha)), "AP", settings={"alpha": [1.0, 50.0]}
    )
    np.testing.assert_array_equal(one.values["AP"], two.values["AP"])


def test_pipeline_with_a_ranker_at_its_end(data):
    params = {"n_estimators": 4, "min_child_samples": 2, "verbose": -1, "n_jobs": 1}
    pipeline = fit(make_pipeline(StandardScaler(), lgb.LGBMRanker(**params)), data)
    scaled = StandardScaler().fit_transform(data.X)
    expected = lgb.LGBMRanker(**params).fit(scaled, data.y, group=data.group).predict(scaled)
    np.testing.assert_allclose(predict(pipeline, data), expected)


class Spy:
    """A ranker of datasets that notes what it was shown."""

    def __init__(self):
        self.seen = []

    def fit(self, X, y=None, *, qid=None, eval_set=None):
        self.seen.append(("fit", X, eval_set))
        return self

    def predict(self, X, *, qid=None):
        self.seen.append(("predict", X, None))
        return X.X[:, 0]


def test_no_labels_outside_training(data):
    result = cross_validate(data, Spy(), "AP", keep_rankers=True)
    for ranker, fold in zip(result.rankers, letor_folds(data), strict=True):
        (_, train, eval_set), (_, valid, _), (_, test, _) = ranker.seen
        assert train.qids.tolist() == fold.train.qids.tolist() and train.y is not None and eval_set is None
        assert valid.qids.tolist() == fold.valid.qids.tolist() and valid.y is None
        assert test.qids.tolist() == fold.test.qids.tolist() and test.y is None
    stopped = cross_validate(data, Spy(), "AP", keep_rankers=True, early_stopping=True)
    assert stopped.rankers[0].seen[0][2].qids.tolist() == letor_folds(data)[0].valid.qids.tolist()


def test_seed_is_given_where_it_is_open():
    assert build(lgb.LGBMRanker(), {}, 7).random_state == 7
    assert build(lgb.LGBMRanker(random_state=3), {}, 7).random_state == 3
    assert build(lgb.LGBMRanker(), {"random_state": 5}, 7).random_state == 5


# ------------------------------------------------------------------------------------------------------------ folds


def test_folds_by_name_and_read_one_by_one(data):
    folds = letor_folds(data)
    named = cross_validate({f"Fold{i}": fold for i, fold in enumerate(folds, 1)}, Ridge(), "AP")
    lazy = cross_validate((fold for fold in folds), Ridge(), "AP")
    given = cross_validate(data, Ridge(), "AP")
    assert named.folds["fold"].to_list() == ["Fold1", "Fold2", "Fold3", "Fold4", "Fold5"]
    assert named.mean == lazy.mean == given.mean


@pytest.mark.parametrize("splitter", [QueryKFold(4), GroupKFold(4)])
def test_splitters_without_validation(data, splitter):
    result = cross_validate(data, Ridge(), "AP", folds=splitter)
    assert sorted(result.qids.tolist()) == sorted(data.qids.tolist())
    assert result.folds["validation"].null_count() == 4
    with pytest.raises(DataError, match="fold 1 has no validation part"):
        cross_validate(data, Ridge(), "AP", folds=splitter, settings={"alpha": [1, 2]})


def test_threads_change_nothing(data):
    one = cross_validate(data, Ridge(), "AP", settings={"alpha": ALPHAS})
    many = cross_validate(data, Ridge(), "AP", settings={"alpha": ALPHAS}, n_jobs=3, verbose=True)
    assert one.best_settings == many.best_settings
    np.testing.assert_array_equal(one.values["AP"], many.values["AP"])


def test_a_query_with_two_roles_is_refused(data):
    fold = letor_folds(data)[0]
    leaky = SimpleNamespace(train=fold.train, valid=fold.valid, test=data.select([0]))
    with pytest.raises(DataError, match=r"fold B: query q\d+ is in train and in test"):
        cross_validate({"A": fold, "B": leaky}, Ridge(), "AP")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_errors_name_fold_and_setting(data, n_jobs):
    with pytest.raises(ValueError, match="alpha") as caught:
        cross_validate(data, Ridge(), "AP", settings={"alpha": [1.0, -1.0]}, n_jobs=n_jobs)
    assert caught.value.__notes__ == ["in fold 1 with the setting {'alpha': -1.0}"]


def test_errors(data):
    with pytest.raises(DataError, match="cuts query"), pytest.warns(UserWarning, match="groups"):
        cross_validate(data, Ridge(), "AP", folds=KFold(3))
    with pytest.raises(TypeError, match="eval_set"):
        cross_validate(data, Ridge(), "AP", early_stopping=True)
    with pytest.raises(TypeError, match="QueryKFold"):
        cross_validate(data, Ridge(), "AP", folds="five")
    with pytest.raises(DataError, match="no folds"):
        cross_validate([], Ridge(), "AP")
    with pytest.raises(DataError, match="fold 1: train is NoneType"):
        cross_validate([data], Ridge(), "AP")
    with pytest.raises(ValueError, match=r"settings\['alpha'\]"):
        cross_validate(data, Ridge(), "AP", settings={"alpha": 1.0})
    with pytest.raises(ValueError, match="empty"):
        expand_settings([])


# ---------------------------------------------------------------------------------------------------------- results


def test_results_can_be_compared(data):
    runs = {
        "ridge": cross_validate(data, Ridge(), ["AP", "nDCG"]),
        "flat": cross_validate(data, Ridge(alpha=1e9, fit_intercept=False), ["AP", "nDCG"]),
    }
    result = compare_evaluations(runs)
    assert result.means["AP"].to_list() == pytest.approx([run.mean_over_queries["AP"] for run in runs.values()])


def test_renderings(data):
    finished = cross_validate(data, Ridge(), "AP", settings={"alpha": [1.0, 5.0]})
    lines = finished.to_markdown().splitlines()
    assert f"{finished.mean['AP']:.4f}" in lines[7] and "mean" in lines[7]
    assert "selected by AP on" in finished.to_latex()
    record = json.loads(finished.to_json())
    assert record["mean"] == finished.mean and len(record["per_query"]) == 31
    assert finished.to_csv().splitlines()[0] == "fold,setting,validation,AP,seconds"


@pytest.mark.golden
def test_published_figures_of_linear_regression(data_dir):
    """LETOR 3.0, OHSUMED: unregularised regression, which has nothing random (Liu 2011, Table 11.7)."""
    root = data_dir / "LETOR3.0-OHSUMED" / "QueryLevelNorm"
    if not root.is_dir():
        pytest.skip(f"{root} is not there")
    folds = (
        Fold(*(read_letor(root / f"Fold{i}" / f"{part}.txt") for part in ("train", "vali", "test")))
        for i in range(1, 6)
    )
    published = {
        "nDCG@1": 0.446,
        "nDCG@3": 0.443,
        "nDCG@10": 0.411,
        "P@1": 0.597,
        "P@3": 0.577,
        "P@10": 0.466,
        "AP": 0.422,
    }
    result = cross_validate(folds, LinearRegression(), list(published), preset="letor3")
    assert result.mean == pytest.approx(published, abs=0.001)
    assert result.mean_over_queries["P@1"] != pytest.approx(published["P@1"], abs=0.0005)  # the mean is over folds


def test_rankers_by_name_and_what_is_none(data):
    named = cross_validate(data, "ListNet(max_iter=2)", "AP", folds=3)
    assert named.mean == cross_validate(data, pk.ListNet(max_iter=2), "AP", folds=3).mean
    with pytest.raises(
        DataError, match=r"ranker is of type RankingDataset; .*: cross_validate\(data, ranker, measures"
    ):
        cross_validate(pk.ListNet(), data, "AP")
