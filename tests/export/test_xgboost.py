"""XGBoost's files: the same leaves on every row, from JSON and UBJSON; damage is an error of ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett._load import foreign_reader
from plackett.export._form import form_of
from plackett.export.verify import _scores, hard_rows
from plackett.export.xgboost import read_xgboost

xgboost = pytest.importorskip("xgboost")


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[::2, 3] = 0.0
    y = np.clip(np.round(X[:, 0] + X[:, 1] + (X[:, 3] > 0)), 0, 3)
    X[::5, 1] = np.nan
    return X, y, np.arange(200) // 8


def trained(objective, booster="gbtree"):
    X, y, qid = table()
    if booster == "gblinear":
        X = np.nan_to_num(X)
    y = (y > 0).astype(float) if objective.startswith("binary") else y
    data = xgboost.DMatrix(X, y, qid=qid if objective.startswith("rank") else None, nthread=1)
    params = {"objective": objective, "booster": booster, "nthread": 1}
    params |= {"gblinear": {}, "gbtree": {"max_depth": 3}, "dart": {"max_depth": 3, "rate_drop": 0.3}}[booster]
    return xgboost.train(params, data, 5)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("xgboost") / "model.json"
    trained("rank:ndcg").save_model(path)
    trained("rank:ndcg").save_model(path.with_suffix(".ubj"))
    return path


@pytest.mark.parametrize("suffix", ["json", "ubj"])
@pytest.mark.parametrize(
    ("objective", "booster", "name"),
    [
        ("rank:ndcg", "gbtree", "LambdaMART"),
        ("reg:squarederror", "dart", "MART"),
        ("binary:logistic", "gbtree", "MART"),
        ("reg:squarederror", "gblinear", "LinearRegression"),
    ],
)
def test_scores_are_xgboosts(tmp_path, suffix, objective, booster, name):
    original = trained(objective, booster)
    path = tmp_path / f"model.{suffix}"
    original.save_model(path)
    assert foreign_reader(path) is read_xgboost
    ranker = pk.load(path)
    assert type(ranker).__name__ == name and objective in ranker.card_["read_from"]
    X = np.nan_to_num(table()[0]) if booster == "gblinear" else table()[0]
    for what, rows in hard_rows(form_of(ranker), X).items():
        if what != "infinite values":  # XGBoost refuses them
            expected = original.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True)
            np.testing.assert_allclose(_scores(ranker, rows), expected, rtol=0, atol=2e-6, err_msg=what)


def test_an_imported_model_can_be_used_like_our_own(model, tmp_path):
    X, y, qid = table()
    data = pk.RankingDataset.from_arrays(X, y, qid)
    ranker = pk.load(model)
    scores = ranker.predict(X)
    shares = ranker.predict(X, pred_contrib=True)
    np.testing.assert_allclose(shares.sum(axis=1), scores, atol=1e-9)
    # XGBoost's own shares weight nodes by the same covers
    theirs = trained("rank:ndcg").predict(xgboost.DMatrix(X, nthread=1), pred_contribs=True)
    np.testing.assert_allclose(shares, theirs, atol=2e-5)
    assert ranker.feature_importances_.argmax() in (0, 1) and ranker.feature_importances_.sum() > 0
    assert pk.prune(ranker, data, 3).scorer_.trees.n_trees == 3
    blend = pk.Blend.of([ranker, pk.LambdaMART(n_estimators=2, n_jobs=1).fit(data)], data)
    assert np.isfinite(blend.predict(X)).all()
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(X), scores)
    pk.write_elasticsearch(ranker, tmp_path / "m.json")
    assert pk.verify_export(ranker, tmp_path / "m.json", X, to="elasticsearch").difference == 0.0
    assert pk.explain(ranker, data, 3).method == "trees"


def test_large_trees_are_written_with_children_side_by_side(tmp_path):
    """XGBoost's predictor takes the node after the left child for the right one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)).astype(np.float32)
    y = np.clip(np.round(X @ [1, 1, 1, 0, 0, 0] + X[:, 3] * X[:, 4]), 0, 4)
    ranker = pk.MART(n_estimators=3, num_leaves=60, min_child_samples=5, n_jobs=1).fit(X, y, qid=np.arange(3000) // 10)
    pk.write_xgboost(ranker, tmp_path / "m.json")
    for tree in json.loads((tmp_path / "m.json").read_text())["learner"]["gradient_booster"]["model"]["trees"]:
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        np.testing.assert_array_equal(right[left >= 0], left[left >= 0] + 1)
    assert pk.verify_export(ranker, tmp_path / "m.json", X, to="xgboost").holds


def test_names_and_numbers_of_features(tmp_path):
    X, y, _ = table()
    names = ["a", "b", "c", "d"]
    original = xgboost.train({"nthread": 1, "max_depth": 2}, xgboost.DMatrix(X, y, feature_names=names, nthread=1), 2)
    original.save_model(tmp_path / "m.json")
    assert read_xgboost(tmp_path / "m.json").feature_names_in_.tolist() == names
    wide = read_xgboost(tmp_path / "m.json", n_features=6)
    assert wide.n_features_in_ == 6 and wide.predict(np.zeros((1, 6))).shape == (1,)
    with pytest.raises(DataError, match="has 4 features, and n_features=3"):
        read_xgboost(tmp_path / "m.json", n_features=3)


def change(model, path, value):
    content = json.loads(model.read_text())
    *parents, last = path
    position = content["learner"]
    for name in parents:
        position = position[name]
    position[last] = value
    return content


TREE = ("gradient_booster", "model", "trees", 0)


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("objective",), {}, "objective: no 'name'"),
        (("learner_model_param", "num_class"), "3", "several scores"),
        (("learner_model_param", "num_feature"), "x", "expected a number"),
        (("learner_model_param", "num_feature"), "1e30", "whole number"),
        (("gradient_booster", "name"), "gbmagic", "gbtree, dart and gblinear"),
        ((*TREE, "left_children"), [0] * 15, "tree"),
        ((*TREE, "left_children"), [1], "sizes|nodes"),
        ((*TREE, "split_indices"), "abc", "list of numbers"),
        ((*TREE, "split_indices"), [[1]], "list of numbers"),
        ((*TREE, "split_conditions"), [None], "numbers"),
        ((*TREE, "split_type"), [1], "split_type"),
        ((*TREE, "tree_param"), {"size_leaf_vector": "3"}, "several values"),
    ],
)
def test_damaged_models_are_refused(model, tmp_path, path, value, match):
    other = tmp_path / "m.json"
    other.write_text(json.dumps(change(model, path, value)))
    with pytest.raises(DataError, match=match):
        read_xgboost(other)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"{L", b"\xff\xfe", b"{" * 100_000, b'{"learner": ' * 50_000])
def test_files_that_are_no_models(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(DataError):
        read_xgboost(tmp_path / "m")


@pytest.mark.parametrize("suffix", [".json", ".ubj"])
def test_any_damage_is_a_model_or_an_error_of_ours(model, tmp_path, suffix):
    content = model.with_suffix(suffix).read_bytes()
    rng = np.random.default_rng(0)
    read = 0
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(damaged)))
            gone = int(rng.integers(0, 9))
            damaged[at : at + gone] = rng.choice([b"-", b"9", b"\xff", b"[", b"", b"{", b"1e9", b"Z", b"L"])
        (tmp_path / "m").write_bytes(damaged)
        try:
            ranker = read_xgboost(tmp_path / "m", n_features=None)
        except DataError:
            continue
        if ranker.n_features_in_ < 1000:
            assert np.isfinite(ranker.predict(np.zeros((1, ranker.n_features_in_)))).all()
            read += 1
    assert read < 150


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["\x1b[31mred", "b", "c"], "cannot be the name"),
        (["", "b", "c"], "cannot be the name"),
        (["b", "b", "c"], "'b' occurs twice"),
    ],
)
def test_names_that_would_fail_later_are_refused(tmp_path, names, reason):
    X = np.random.default_rng(0).normal(size=(50, 3))
    pk.write_xgboost(pk.MART(n_estimators=2, n_jobs=1).fit(X, X[:, 0] > 0, qid=np.zeros(50)), tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    model["learner"]["feature_names"] = names
    (tmp_path / "bad.json").write_text(json.dumps(model))
    with pytest.raises(pk.DataError, match=reason):
        pk.read_xgboost(tmp_path / "bad.json")


@pytest.mark.parametrize("suffix", ["json", "ubj"])
@pytest.mark.parametrize("one_hot", [1, 100])
def test_splits_by_category_are_xgboosts(tmp_path, suffix, one_hot):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 40, 400), rng.integers(0, 3, 400)]).astype(np.float32)
    y = X[:, 0] + 2 * np.isin(X[:, 1], [3, 7, 31, 39]) + (X[:, 2] == 1)
    for missing in (False, True):  # with missing values that belong to a set of categories, or to the others
        if missing:
            X[::6, 1], X[::7, 2] = np.nan, np.nan
        data = xgboost.DMatrix(X, y, feature_types=["float", "c", "c"], enable_categorical=True, nthread=1)
        params = {"max_depth": 4, "nthread": 1, "tree_method": "hist", "max_cat_to_onehot": one_hot}
        original = xgboost.train(params, data, 6)
        path = tmp_path / f"model.{suffix}"
        original.save_model(path)
        result = read_xgboost(path)
        assert result.scorer_.trees.categorical.any()
        rows = np.concatenate([X, X[:60]])
        rows[400:, 1] = np.arange(60)  # categories that were never seen, too
        rows[400:430, 2] = np.nan
        types = {"feature_types": ["float", "c", "c"], "enable_categorical": True, "nthread": 1}
        expected = original.predict(xgboost.DMatrix(rows, **types), output_margin=True)
        np.testing.assert_allclose(result.predict(rows), expected, rtol=1e-5, atol=1e-5)
        result.save(tmp_path / "m.plackett")
        np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(rows), result.predict(rows))
    model = json.loads((tmp_path / "model.json").read_text()) if suffix == "json" else None
    if model is not None:
        tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
        for name, value in (("categories_segments", [9**9]), ("categories_nodes", [0, 0]), ("categories", [-5])):
            tree[name], before = value * max(len(tree[name]), 1) if name != "categories_nodes" else value, tree[name]
            path.write_text(json.dumps(model))
            with pytest.raises(DataError):
                read_xgboost(path)
            tree[name] = before


def test_numbers_next_to_zero_are_not_zero(tmp_path):
    """LightGBM takes them for 0, XGBoost does not."""
    path = tmp_path / "m.json"
    parameters = {"max_depth": 1, "nthread": 1, "min_child_weight": 0, "base_score": 0.0}
    train = xgboost.DMatrix(np.array([[-1.0], [1.0]]), [0.0, 1.0])
    xgboost.train(parameters, train, 1).save_model(path)
    model = json.loads(path.read_text())
    model["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"][0] = 0.0
    path.write_text(json.dumps(model))
    X = np.array([[-1e-36], [-1e-44], [-0.0], [0.0], [1e-44]], np.float32)
    expected = xgboost.Booster(model_file=path).predict(xgboost.DMatrix(X))
    assert np.unique(expected).size == 2
    np.testing.assert_array_equal(read_xgboost(path).predict(X).astype(np.float32), expected)
