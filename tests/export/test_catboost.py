"""CatBoost's JSON: symmetric and other trees by hand, CatBoost itself where it is installed, and damage."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett._load import foreign_reader
from plackett.export.catboost import read_catboost


def split(feature, border):
    return {"border": border, "float_feature_index": feature, "split_index": 0, "split_type": "FloatFeature"}


def feature(number, treatment="AsIs", name=""):
    return {
        "feature_index": number,
        "flat_feature_index": number,
        "nan_value_treatment": treatment,
        "feature_id": name,
        "borders": [],
        "has_nans": treatment != "AsIs",
    }


SYMMETRIC = {
    "features_info": {"float_features": [feature(0, "AsFalse"), feature(1, "AsTrue")]},
    "model_info": {"params": {"loss_function": {"type": "YetiRank"}}},
    "oblivious_trees": [
        {"splits": [split(0, 0.1), split(1, -2.0)], "leaf_values": [1.0, 2.0, 4.0, 8.0], "leaf_weights": [1, 2, 3, 4]},
        {"splits": [], "leaf_values": [16.0]},
    ],
    "scale_and_bias": [2.0, [0.5]],
}
NESTED = {
    "features_info": {"float_features": [feature(0), feature(1, "AsTrue")]},
    "trees": [
        {
            "split": split(0, 0.1),
            "left": {"value": 1.0, "weight": 3},
            "right": {"split": split(1, -2.0), "left": {"value": 2.0}, "right": {"value": 4.0}},
        }
    ],
}


def written(tmp_path, model, **parameters):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model, **parameters))
    return path


def test_symmetric_trees_by_hand(tmp_path):
    """Bit i of a leaf's number says whether the value is above border i, a float32."""
    ranker = read_catboost(written(tmp_path, SYMMETRIC))
    at = float(np.float32(0.1))
    rows = [[at, -2.0], [np.nextafter(np.float32(at), np.float32(1)), -2.0], [0.0, -1.0], [1.0, -1.0]]
    rows += [[np.nan, np.nan], [np.nan, -3.0], [1.0, np.nan]]
    leaves = [1.0, 2.0, 4.0, 8.0, 4.0, 1.0, 8.0]
    assert ranker.predict(np.float32(rows)).tolist() == [2.0 * (leaf + 16.0) + 0.5 for leaf in leaves]
    assert type(ranker).__name__ == "ObliviousLambdaMART" and ranker.card_["read_from"] == "CatBoost (YetiRank)"
    assert ranker.scorer_.trees.leaf_count.tolist() == [1, 1, 3, 2, 4, 1]


def test_other_trees_by_hand(tmp_path):
    ranker = read_catboost(written(tmp_path, NESTED))
    assert ranker.predict([[0.0, 9.0], [0.2, -2.0], [0.2, -1.0], [0.2, np.nan], [np.nan, 0.0]]).tolist() == [
        1.0,
        2.0,
        4.0,
        4.0,
        1.0,
    ]
    assert type(ranker).__name__ == "MART"


def test_load_knows_it(tmp_path):
    for parameters in ({}, {"indent": 2}):
        path = written(tmp_path, SYMMETRIC, **parameters)
        assert foreign_reader(path) is read_catboost and pk.load(path).n_features_in_ == 2
    assert read_catboost(path, n_features=5).predict(np.zeros((1, 5))).shape == (1,)
    with pytest.raises(DataError, match="n_features=1"):
        read_catboost(path, n_features=1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"features_info": {"float_features": [], "categorical_features": [1]}}, "categorical features"),
        ({"features_info": {"float_features": [feature(0, "AsMagic")]}}, "treatment of missing values"),
        ({"scale_and_bias": [1, [0.0, 1.0]]}, "several scores"),
        ({"scale_and_bias": [1]}, "a scale and a bias"),
        ({"oblivious_trees": [{"splits": [split(0, 0.1)], "leaf_values": [1.0]}]}, "1 leaf values for 1 splits"),
        ({"oblivious_trees": [{"splits": [split(7, 0.1)], "leaf_values": [1.0, 2.0]}]}, "no feature 7"),
        ({"oblivious_trees": [{"splits": [{"split_type": "OnlineCtr"}], "leaf_values": [1.0, 2.0]}]}, "OnlineCtr"),
        ({"oblivious_trees": 3}, "expected a list"),
        ({"oblivious_trees": [{"splits": [split(0, "x")], "leaf_values": [1.0, 2.0]}]}, "expected a number"),
    ],
)
def test_what_cannot_be_read(tmp_path, change, match):
    with pytest.raises(DataError, match=match):
        read_catboost(written(tmp_path, SYMMETRIC | change))


@pytest.mark.parametrize("model", [SYMMETRIC, NESTED], ids=["symmetric", "other"])
def test_any_damage_is_a_model_or_an_error_of_ours(tmp_path, model):
    content = json.dumps(model).encode()
    rng, read = np.random.default_rng(0), 0
    for _ in range(200):
        damaged = bytearray(content)
        at = int(rng.integers(len(damaged)))
        damaged[at : at + int(rng.integers(0, 6))] = rng.choice([b"-", b"9", b"[", b"]", b"", b"{}", b"1e9", b"null"])
        (tmp_path / "m").write_bytes(damaged)
        try:
            ranker = read_catboost(tmp_path / "m")
        except DataError:
            continue
        if ranker.n_features_in_ < 1000:
            assert np.isfinite(ranker.predict(np.zeros((1, ranker.n_features_in_)))).all()
        read += 1
    assert read < 200


def test_scores_are_catboosts(tmp_path):
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2
    X[::7, 1] = np.nan
    settings = {"iterations": 5, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    for more in ({}, {"nan_mode": "Max"}, {"grow_policy": "Lossguide"}):
        original = catboost.CatBoostRegressor(**settings, **more).fit(X, y)
        original.save_model(str(tmp_path / "m.json"), format="json")
        ranker = pk.load(tmp_path / "m.json")
        rows = X.copy()
        rows[::3, 0] = rng.choice(ranker.scorer_.trees.threshold[ranker.scorer_.trees.feature == 0], 100)
        np.testing.assert_allclose(ranker.predict(rows), original.predict(rows), rtol=1e-12, atol=1e-14)
