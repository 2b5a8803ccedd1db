"""What the toolkits of old can do, ability by ability, as `docs/coming-from-ranklib.md` says it is done here."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett.scorers.trees.text import split_trees

TREES = {"n_estimators": 12, "num_leaves": 6, "min_child_samples": 3, "n_jobs": 1}


def task(seed=0, n_queries=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 10, 6)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.7 * X[:, 1] + rng.normal(0, 0.5, len(X)), [-0.3, 0.8, 1.6]).astype(float)
    return pk.RankingDataset.from_arrays(X, y, np.arange(len(X)) // 10)


CHANCE = pk.evaluate(task(1), np.zeros(500), ["nDCG@10"]).mean["nDCG@10"]


def learns(ranker, **fit):
    return ranker.fit(task(), **fit).score(task(1)) > CHANCE + 0.15


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("MART", TREES),
        ("RankNet", {"hidden": (10,), "max_epochs": 10, "learning_rate": 0.05, "device": "cpu"}),
        ("RankBoost", {"n_estimators": 30, "n_thresholds": 10}),
        ("AdaRank", {"n_estimators": 30, "tol": 0.002, "max_repeats": 5}),
        ("CoordinateAscent", {"n_restarts": 1, "max_iter": 5, "tol": 0.001, "line_search": "steps"}),
        ("LambdaRank", {"hidden": (10,), "max_epochs": 10, "learning_rate": 0.05, "device": "cpu"}),
        ("LambdaMART", TREES | {"max_bin": 255}),
        ("ListNet", {}),
        ("RandomForest", {"n_estimators": 20, "subsample": 0.8, "colsample_bytree": 0.5}),
        ("LinearRegression", {"alpha": 1e-10}),
    ],
)
def test_ranklib_learners(name, parameters):
    if name in ("RankNet", "LambdaRank"):
        pytest.importorskip("torch", reason="networks need the extra 'neural'")
    assert learns(pk.rankers()[name](n_jobs=1, **{k: v for k, v in parameters.items() if k != "n_jobs"}))


def test_ranklib_protocol(tmp_path):
    """Normalisation by query, splits, folds with their models, files per query, randomisation test."""
    data = task()
    x = data.X[:10, 0].astype(float)
    by_hand = {
        "sum": x / np.abs(x).sum(),
        "zscore": (x - x.mean()) / x.std(ddof=1),
        "minmax": (x - x.min()) / (x.max() - x.min()),
    }
    for method, expected in by_hand.items():
        actual = pk.QueryNormalizer(method).fit_transform(data)
        np.testing.assert_allclose(actual.X[:10, 0], expected, rtol=1e-4, atol=1e-6)
    pipeline = make_pipeline(pk.QueryNormalizer("zscore"), pk.ListNet())
    assert pipeline.fit(data).predict(data).shape == (500,)
    train, test = pk.split_queries(data, (0.8, 0.2), random_state=0)
    assert (train.n_queries, test.n_queries) == (40, 10)
    actual = pk.cross_validate(data, pk.ListNet(), ["nDCG@10"], folds=5, keep_rankers=True)
    assert len(actual.rankers) == 5 and actual.per_query.height == 50
    actual.rankers[0].save(tmp_path / "fold1.plackett")
    result = pk.evaluate(test, actual.rankers[0].predict(test), ["nDCG@10"])
    assert result.per_query.height == 10
    scores = {"a": actual.rankers[0].predict(data), "b": data.X[:, 2].astype(float)}
    compared = pk.compare(data, scores, ["nDCG@10"], test="fisher")
    assert compared.test == "fisher" and compared.pairs["p"][0] < 0.01


def first_features(ranker):
    """The features of the first splits."""
    return {int(tree["split_feature"].split()[0]) for tree in split_trees(ranker.scorer_.text)[1]}


def test_pyltr_lambdamart():
    """Queries drawn for each tree, features for each split, validation with early stopping, going on, its measures."""
    half = pk.LambdaMART(measure="nDCG@10", subsample=0.5, colsample_bynode=0.34, max_depth=3, **TREES)
    assert learns(half)
    every = pk.LambdaMART(measure="nDCG@10", subsample=0.5, max_depth=3, **TREES).fit(task())
    assert first_features(every) <= {0, 1}  # those that matter
    assert not first_features(half) <= {0, 1}  # a split that does not see them must look elsewhere
    for measure in ("nDCG", "DCG", "AP", "ERR(max_label=3)"):
        assert learns(pk.LambdaMART(measure=measure, **TREES))
    watched = pk.LambdaMART(early_stopping_rounds=3, **TREES | {"n_estimators": 200, "learning_rate": 0.5})
    watched.fit(task(), eval_set=task(2))
    assert len(watched.history_) < 200
    assert watched.scorer_.booster.num_trees() == np.argmax(watched.history_) + 1
    more = pk.LambdaMART(warm_start=True, **TREES).fit(task()).fit(task())
    assert more.scorer_.booster.num_trees() == 24
    result = pk.evaluate(task(1), half.predict(task(1)), ["nDCG", "AP", "ERR(max_label=3)", "AUC"]).mean
    assert all(0.5 < value <= 1 for name, value in result.items() if "ERR" not in name)
    assert pk.kendall_tau([1, 2, 3], [1, 2, 3]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 4},
        {"boosting": "bagged", "n_bags": 3, "subsample": 0.8},
        {"boosting": "forest", "n_estimators": 30, "colsample_bytree": 0.5},
    ],
    ids=["LambdaMART", "bagged LambdaMART", "LambdaRandomForest"],
)
def test_rankpy_ensembles(parameters):
    assert learns(pk.LambdaMART(**TREES | parameters))


def test_a_lambda_random_forest_grows_every_tree_on_the_first_lambdas():
    """All its trees are Newton steps at zero scores on bootstraps: their mean of many is close to that of others."""
    settings = TREES | {"boosting": "forest", "n_estimators": 60}
    one, two = (pk.LambdaMART(random_state=seed, **settings).fit(task()).predict(task(1)) for seed in (0, 1))
    assert np.corrcoef(one, two)[0, 1] > 0.9 and not np.array_equal(one, two)


def test_jforests_ensembles():
    for parameters in ({"subsample": 0.3}, {"boosting": "bagged", "n_bags": 2}, {"colsample_bytree": 0.5}):
        assert learns(pk.LambdaMART(**TREES | parameters))
    for risk in ("urisk", "saro", "faro"):
        assert learns(pk.rankers()["RiskSensitiveLambdaMART"](baseline=1, risk=risk, alpha=2.0, **TREES))


def test_quickrank_ensembles():
    """Oblivious trees, DART in its variants, line search; pruning has tests of its own."""
    for name in ("ObliviousMART", "ObliviousLambdaMART"):
        assert learns(pk.rankers()[name](n_estimators=12, depth=3, n_jobs=1))
    for drops in ({"uniform_drop": True}, {"xgboost_dart_mode": True}, {"drop_rate": 0.3, "skip_drop": 0.2}):
        assert learns(pk.LambdaMART(boosting="dart", lightgbm_params=drops, **TREES))
    assert learns(pk.rankers()["CoordinateAscent"](line_search="exact", max_iter=3))


def test_xgboost_objectives_and_settings():
    for ranker in (
        pk.LambdaMART(measure="nDCG", truncation=8, **TREES),
        pk.LambdaMART(measure='nDCG(gain="linear")', truncation=None, normalize=False, **TREES),
        pk.LambdaMART(measure="AP(rel=2)", **TREES),
        pk.GradientRanker(loss="Logistic", model=pk.Trees(**TREES)),
        pk.LambdaMART(boosting="dart", **TREES),
        pk.LambdaMART(reg_alpha=0.01, reg_lambda=1.0, min_child_weight=0.1, colsample_bytree=0.7, **TREES),
    ):
        assert learns(ranker)
    rising = pk.LambdaMART(monotone_constraints=(1, 1, 0, 0, 0, 0), **TREES).fit(task())
    line = np.zeros((50, 6), np.float32)
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(rising.predict(line)) >= 0).all()
    weighted = pk.LambdaMART(**TREES).fit(task().X, task().y, qid=task().qid, query_weight=np.arange(50.0))
    assert weighted.score(task(1)) > CHANCE + 0.1
    result = pk.explain(rising, task(1), 3)
    np.testing.assert_allclose(result.contributions.sum(axis=1) + result.base, result.scores, atol=1e-6)


@pytest.mark.parametrize(("objective", "measure"), [("rank:ndcg", "nDCG"), ("rank:map", "AP(rel=2)")])
def test_as_good_as_xgboost(objective, measure):
    xgboost = pytest.importorskip("xgboost", reason="compares with XGBoost where it is installed")
    train, new = task(n_queries=100), task(1, n_queries=100)
    labels = train.y if objective == "rank:ndcg" else (train.y >= 2).astype(int)
    theirs = xgboost.XGBRanker(objective=objective, n_estimators=40, learning_rate=0.1, max_depth=3, n_jobs=1)
    theirs.fit(train.X, labels, qid=train.query_of_row)
    mine = pk.LambdaMART(measure=measure, n_estimators=40, num_leaves=8, max_depth=3, n_jobs=1).fit(train)
    values = [
        pk.evaluate(new, np.asarray(s, float), [measure]).mean[measure]
        for s in (mine.predict(new), theirs.predict(new.X))
    ]
    assert values[0] > values[1] - 0.01
