"""The order of one feature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import plackett as pk
from plackett._base.errors import DataError
from plackett.rankers.named import ranker_named

NAMES = ["bm25 title", "price"]
X = np.array([[3.0, 9.0], [np.nan, 2.0], [2.0, 5.0], [-4.0, 1.0]], np.float32)
Y, QID = [0, 2, 1, 2], [1, 1, 1, 1]


@pytest.fixture
def data():
    return pk.RankingDataset.from_arrays(X, Y, QID, feature_names=NAMES)


@pytest.mark.parametrize(
    ("parameters", "order"),
    [
        ({"feature": "bm25 title"}, [0, 2, 3, 1]),  # the missing one last
        ({"feature": 0, "direction": "low first"}, [3, 2, 0, 1]),
        ({"feature": "price"}, [0, 2, 1, 3]),
        ({}, [3, 1, 2, 0]),
        ({"direction": "high first"}, [0, 2, 1, 3]),  # price
    ],
)
def test_the_order_is_that_of_the_feature(data, parameters, order):
    scores = pk.ByFeature(**parameters).fit(data).predict(data)
    assert np.argsort(-scores).tolist() == order


def test_the_best_feature_is_named_with_its_direction(data):
    best = pk.ByFeature().fit(data)
    assert (best.feature_, best.direction_) == ("price", "low first")


def test_features_without_names_count_from_1_as_texts(data):
    plain = data.replace(feature_names=None)
    scores = ranker_named("column:2")[0].fit(plain).predict(plain)
    assert scores.tolist() == X[:, 1].tolist() == pk.ByFeature(feature=1).fit(plain).predict(plain).tolist()


def test_scores_are_the_values_and_survive_saving(data, tmp_path):
    ranker = pk.ByFeature(feature="price").fit(data)
    ranker.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    sparse = data.replace(X=csr_matrix(np.nan_to_num(X)))
    for scored in (data, sparse):
        np.testing.assert_array_equal(loaded.predict(scored), X[:, 1])
    assert pk.explain(loaded, data, 1).method == "additive"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature": "prize"}, "no feature 'prize'; the features are 'bm25 title', 'price'"),
        ({"feature": 2}, "give a name, or 0 to 1"),
        ({"feature": 0, "direction": "up"}, "direction='up'"),
    ],
)
def test_errors_name_the_parameter(data, parameters, message):
    with pytest.raises(DataError, match=message):
        pk.ByFeature(**parameters).fit(data)


def test_columns_are_baselines_wherever_rankers_are_named():
    data = pk.datasets.make_ranking(40, 8, 5, random_state=0)
    first = data.feature_names[0]
    result = pk.experiment(data, [f"column:{first}", "LinearRegression"], "AP", n_trials=2, folds=3, n_jobs=1)
    assert result.trials.filter(ranker=f"column:{first}").height == 3  # a column has nothing to tune
    tested = pk.concat([fold.test for fold in result.folds["data"].values()])
    own = pk.evaluate(tested, tested.X[:, 0], "AP").values["AP"]
    np.testing.assert_array_equal(result.evaluation("data", f"column:{first}").values["AP"], own)
    assert f"column:{first}" in result.to_terminal()
    blend = pk.Blend(members=[f"column:{first}", "LinearRegression"]).fit(data)
    assert np.isfinite(blend.predict(data)).all()


def test_columns_next_to_categories_are_baselines_too(tmp_path):
    shop = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=2, random_state=0)
    X = np.column_stack([shop.X, np.arange(shop.n_rows) % 3])
    shop = shop.replace(X=X, feature_names=("bm25", "price", "brand"), categories={"brand": ["x", "y", "z"]})
    rankers = ["column:bm25", pk.LambdaMART(n_estimators=3)]
    result = pk.experiment(shop, rankers, "nDCG", search=None, n_jobs=1, out=tmp_path / "found")
    assert not result.failures and result.leaderboard.height == 2
    ranker = pk.ByFeature(feature=0).fit(shop)
    ranker.save(tmp_path / "first.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "first.plackett").predict(shop), shop.X[:, 0])
    for refused in (pk.ByFeature(feature="brand"), pk.ByFeature(feature=2), pk.ByFeature()):
        with pytest.raises(DataError, match="'brand': ByFeature takes numbers, not categories"):
            refused.fit(shop)


@pytest.mark.parametrize("list_features", [False, True])
def test_a_search_says_how_far_it_is_ahead_of_a_column(list_features):
    data = pk.datasets.make_ranking(40, 8, 5, random_state=0)
    few = {"candidates": ["LinearRegression"], "n_trials": 1, "n_folds": 4, "n_repeats": 2}
    ranker = pk.AutoRanker(**few, baseline=f"column:{data.feature_names[1]}", list_features=list_features).fit(data)
    expected = pk.evaluate(data, data.X[:, 1], "nDCG@10").mean["nDCG@10"]
    (told,) = [text for text in ranker.reasons_ if "baseline" in text]
    assert f"column:{data.feature_names[1]}, which has nDCG@10 {expected:.4f}" in told
    gain = ranker.estimate_["value"] - expected
    assert f"That is {abs(gain):.4f} {'ahead of' if gain >= 0 else 'behind'}" in told
    with pytest.raises(DataError, match="no feature 'nothing'"):
        pk.AutoRanker(**few, baseline="column:nothing").fit(data)
    with pytest.raises(DataError, match="baseline: .* is not a ranker"):
        pk.AutoRanker(**few, baseline=3).fit(data)
