"""LightGBM's files: read and written with the same scores, bit for bit; damage is an error of ours."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett._load import foreign_reader
from plackett.export._form import form_of
from plackett.export.lightgbm import read_lightgbm, write_lightgbm
from plackett.export.verify import _scores, hard_rows


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[::2, 3] = 0.0
    y = np.clip(np.round(X[:, 0] + X[:, 1] + (X[:, 3] > 0)), 0, 3)
    X[::5, 1] = np.nan
    return X, y


def trained(names=None, **params):
    import lightgbm as lgb

    X, y = table()
    base = {"num_leaves": 5, "min_data_in_leaf": 2, "num_threads": 1, "verbose": -1}
    data = lgb.Dataset(X, y, group=[8] * 25, feature_name=names or "auto", params=base)
    return lgb.train(base | params, data, 4)


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"objective": "lambdarank"}, "LambdaMART"),
        ({"objective": "rank_xendcg"}, "XENDCG"),
        ({"objective": "regression", "zero_as_missing": True}, "MART"),
        ({"objective": "regression", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}, "RandomForest"),
        ({"objective": "regression", "monotone_constraints": [1, 0, 0, 0]}, "MART"),
    ],
)
def test_scores_are_lightgbms(tmp_path, params, name):
    original = trained(**params)
    original.save_model(tmp_path / "m.txt")
    assert foreign_reader(tmp_path / "m.txt") is read_lightgbm
    ranker = pk.load(tmp_path / "m.txt")
    assert type(ranker).__name__ == name
    for rows in hard_rows(form_of(ranker), table()[0]).values():
        expected = original.predict(rows, num_threads=1)
        np.testing.assert_allclose(_scores(ranker, rows), expected, rtol=0, atol=1e-15 if name == "RandomForest" else 0)


def test_there_and_back(tmp_path):
    names = ["title bm25", "age", "price", "stock"]
    trained(["title_bm25", *names[1:]], objective="lambdarank").save_model(tmp_path / "m.txt")
    ranker = read_lightgbm(tmp_path / "m.txt")
    assert ranker.feature_names_in_.tolist() == ["title_bm25", *names[1:]]
    write_lightgbm(ranker, tmp_path / "n.txt", feature_names=names)
    again = read_lightgbm(tmp_path / "n.txt")
    assert again.feature_names_in_.tolist() == ["title_bm25", *names[1:]]  # LightGBM allows no blanks
    np.testing.assert_array_equal(again.scorer_.trees.threshold, ranker.scorer_.trees.threshold)
    wide = read_lightgbm(tmp_path / "n.txt", n_features=7)
    X = np.pad(table()[0], ((0, 0), (0, 3)))
    np.testing.assert_array_equal(wide.predict(X), ranker.predict(X[:, :4]))


def test_what_cannot_be_read(tmp_path):
    path = tmp_path / "m.txt"
    for text, match in (("tree\n", "not a model file"), ("hello", "not a model file")):
        path.write_text(text)
        with pytest.raises(DataError, match=match):
            read_lightgbm(path)
    trained(objective="multiclass", num_class=4).save_model(path)
    with pytest.raises(DataError, match="4 scores per row"):
        read_lightgbm(path)
    trained(objective="regression", linear_tree=True).save_model(path)
    with pytest.raises(DataError, match="linear"):
        read_lightgbm(path)
    trained(objective="regression").save_model(path)
    with pytest.raises(DataError, match="n_features=1"):
        read_lightgbm(path, n_features=1)


def test_any_damage_is_a_model_or_an_error_of_ours(tmp_path):
    trained(objective="lambdarank").save_model(tmp_path / "m.txt")
    content = (tmp_path / "m.txt").read_bytes()
    content = content[: content.index(b"end of trees") + 13]
    rng, read = np.random.default_rng(0), 0
    for _ in range(150):
        damaged = bytearray(content)
        at = int(rng.integers(len(damaged)))
        damaged[at : at + int(rng.integers(0, 9))] = rng.choice([b"-", b"9", b" ", b"=", b"", b"\n", b"1e9", b"nan"])
        (tmp_path / "d.txt").write_bytes(damaged)
        try:
            ranker = read_lightgbm(tmp_path / "d.txt")
        except DataError:
            continue
        assert np.isfinite(ranker.predict(np.zeros((1, ranker.n_features_in_)))).all()
        read += 1
    assert read < 150
