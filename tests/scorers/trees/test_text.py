"""LightGBM's text: parsed into arrays, checked, and written anew."""

from __future__ import annotations

import re

import numpy as np
import pytest

from plackett import DataError
from plackett.scorers.trees.text import join_trees, new_head, parse_trees, split_trees, trees_only, write_text

lgb = pytest.importorskip("lightgbm")


def table(n=1500, seed=0):
    """Amounts with NaN and zeros, and a column of codes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[rng.random(X.shape) < 0.2] = 0.0
    X[:, 2] = rng.integers(0, 90, n)
    y = X[:, 2] % 3 + np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + rng.normal(size=n)
    return X, y


def grown(rounds=8, **parameters):
    X, y = table()
    options = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "num_leaves": 15} | parameters
    if options.get("num_class"):
        y = np.digitize(y, [0.0, 1.0])
    booster = lgb.train(options, lgb.Dataset(X, y, categorical_feature=[2]), rounds)
    return booster, trees_only(booster.model_to_string())


def strange_rows():
    """Rows with everything that splits treat in a way of its own."""
    X, _ = table(600, seed=1)
    X[::7, 2], X[1::7, 2], X[2::7, 2], X[3::7, 2] = 1e6, -1.0, np.nan, 3.7
    X[::11, 0], X[1::11, 1] = np.inf, 1e-36
    return X


def naive(trees, X):
    """Scores by walking down the arrays, one row after the other, as LightGBM's documentation has it."""
    scores = np.zeros((X.shape[0], trees.n_outputs))
    for i, row in enumerate(X):
        for t in range(trees.n_trees):
            base, node = trees.split_offsets[t], 0
            if trees.split_offsets[t + 1] == base:
                node = -1
            while node >= 0:
                node = (trees.left if goes_left(trees, base + node, row) else trees.right)[base + node]
            scores[i, t % trees.n_outputs] += trees.leaf_value[trees.leaf_offsets[t] - node - 1]
    return scores if trees.n_outputs > 1 else scores[:, 0]


def goes_left(trees, i, row):
    value, kind = row[trees.feature[i]], int(trees.decision[i])
    missing = kind >> 2
    if kind & 1:
        code = -1 if np.isnan(value) else int(value)
        c = int(trees.threshold[i])
        tokens = trees.set_words[trees.set_offsets[c] : trees.set_offsets[c + 1]]
        return 0 <= code < 32 * len(tokens) and bool(int(tokens[code // 32]) >> code % 32 & 1)
    if np.isnan(value) and missing != 2:
        value = 0.0
    if (missing == 1 and abs(value) <= 1e-35) or (missing == 2 and np.isnan(value)):
        return bool(kind & 2)
    return value <= trees.threshold[i]


KINDS = {
    "NaN": {},
    "zero as missing": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "many leaves": {"num_leaves": 255, "min_data_in_leaf": 1, "rounds": 3},
    "classes": {"objective": "multiclass", "num_class": 3},
    "random forest": {"rounds": 2, "extra_trees": True},
    "monotone": {"monotone_constraints": [1, -1, 0, 0], "rounds": 3},
}


@pytest.mark.parametrize("parameters", KINDS.values(), ids=KINDS)
def test_written_anew_it_scores_the_same(parameters):
    booster, text = grown(**parameters)
    X = strange_rows()
    trees = parse_trees(text)
    again = lgb.Booster(model_str=write_text(trees))
    np.testing.assert_array_equal(again.predict(X, raw_score=True), booster.predict(X, raw_score=True))
    np.testing.assert_array_equal(again.predict(X[:20], pred_contrib=True), booster.predict(X[:20], pred_contrib=True))
    assert again.feature_importance("gain").tolist() == booster.feature_importance("gain").tolist()
    assert write_text(parse_trees(write_text(trees))) == write_text(trees)


@pytest.mark.parametrize("name", ["NaN", "zero as missing", "no missing", "classes"])
def test_arrays_mean_what_lightgbm_means(name):
    booster, text = grown(**KINDS[name])
    X = strange_rows()[:150]
    np.testing.assert_allclose(naive(parse_trees(text), X), booster.predict(X, raw_score=True), rtol=1e-13, atol=1e-13)


def test_infinite_thresholds():
    """NaN to one side and everything else to the other."""
    X = np.where(np.arange(200) % 3 == 0, np.nan, np.arange(200) % 5)[:, None]
    booster = lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(X, np.isnan(X[:, 0]).astype(float)), 2)
    trees = parse_trees(trees_only(booster.model_to_string()))
    assert np.isinf(trees.threshold).any()
    np.testing.assert_array_equal(lgb.Booster(model_str=write_text(trees)).predict(X), booster.predict(X))


def test_no_trees_and_single_leaves():
    assert parse_trees(join_trees(new_head(3), [])).n_trees == 0
    leaf = {"num_leaves": "1", "num_cat": "0", "leaf_value": "0.25", "shrinkage": "1"}
    trees = parse_trees(join_trees(new_head(3), [leaf, leaf]))
    assert lgb.Booster(model_str=write_text(trees)).predict(np.zeros((1, 3))).tolist() == [0.5]


def test_linear_leaves_are_refused():
    X, y = table()
    booster = lgb.train({"linear_tree": True, "verbosity": -1}, lgb.Dataset(X[:, :2], y), 2)
    with pytest.raises(DataError, match="linear_tree"):
        parse_trees(trees_only(booster.model_to_string()))


def chain(n_splits):
    """A tree whose splits stand in one line."""
    head = new_head(1)
    right = [*range(1, n_splits), -n_splits - 1]
    tree = {
        "num_leaves": str(n_splits + 1),
        "num_cat": "0",
        "split_feature": " ".join(["0"] * n_splits),
        "threshold": " ".join(map(str, range(n_splits))),
        "decision_type": " ".join(["2"] * n_splits),
        "left_child": " ".join(str(-i - 1) for i in range(n_splits)),
        "right_child": " ".join(map(str, right)),
        "leaf_value": " ".join(map(str, range(n_splits + 1))),
        "shrinkage": "1",
    }
    return head, tree


def test_depth_is_bounded():
    assert parse_trees(join_trees(chain(3000)[0], [chain(3000)[1]])).n_trees == 1
    with pytest.raises(DataError, match="levels"):
        parse_trees(join_trees(chain(5000)[0], [chain(5000)[1]]))


BAD = {
    "carriage return": {"leaf_value": "0\r1 2 3"},
    "vertical tab": {"leaf_value": "0\x0b1 2 3"},
    "form feed": {"threshold": "0 1\x0c2"},
    "tab": {"threshold": "0 1\t2"},
    "underscore": {"left_child": "-1 -2 -0_3"},
    "two blanks": {"threshold": "0 1  2"},
    "trailing blank": {"threshold": "0 1 2 "},
    "plus": {"left_child": "+1 -2 -3"},
    "fraction": {"left_child": "-1 -2 -3.0"},
    "hexadecimal": {"threshold": "0 0x1 2"},
    "NaN": {"threshold": "0 nan 2"},
    "infinite leaf": {"leaf_value": "0 inf 2 3"},
    "overflow": {"leaf_value": "0 1e999 2 3"},
    "large child": {"right_child": "1 2 99999999999999999999"},
    "child beyond": {"right_child": "1 3 -4"},
    "leaf beyond": {"right_child": "1 2 -5"},
    "loop": {"right_child": "1 0 -4"},
    "itself": {"right_child": "0 2 -4"},
    "leaf twice": {"left_child": "-1 -1 -3"},
    "too few": {"leaf_value": "0 1 2"},
    "too many": {"leaf_value": "0 1 2 3 4"},
    "feature": {"split_feature": "0 1 0"},
    "negative feature": {"split_feature": "0 -1 0"},
    "kind": {"decision_type": "2 16 2"},
    "missing kind": {"decision_type": "2 14 2"},
    "category without list": {"decision_type": "2 1 2"},
    "list beyond": {"decision_type": "2 1 2", "num_cat": "1", "cat_boundaries": "0 1", "cat_threshold": "1"},
    "half a list": {
        "decision_type": "1 2 2",
        "threshold": "0.5 1 2",
        "num_cat": "2",
        "cat_boundaries": "0 1 2",
        "cat_threshold": "1 1",
    },
    "boundaries": {"num_cat": "2", "cat_boundaries": "0 5 1", "cat_threshold": "1"},
    "words": {"num_cat": "1", "cat_boundaries": "0 1", "cat_threshold": "4294967296"},
    "many leaves": {"num_leaves": "1000000000"},
    "many lists": {"num_cat": "1000000000"},
    "unknown line": {"leaf_values": "1"},
    "count": {"leaf_count": "1 2 3 4294967295"},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_refused(change):
    head, tree = chain(3)
    parse_trees(join_trees(head, [tree]))
    with pytest.raises(DataError, match="damaged"):
        parse_trees(join_trees(head, [tree | change]))


@pytest.mark.parametrize(
    "change",
    [
        {"max_feature_idx": "1"},
        {"max_feature_idx": "1_0"},
        {"num_class": "2"},
        {"feature_names": "a\x0bb"},
        {"feature_names": "a b"},
        {"feature_infos": ""},
        {"parser_config_str": "x"},
        {"version": "v3"},
        {"label_index": "x"},
        {"monotone_constraints": "1 1"},
    ],
)
def test_refused_heads(change):
    head, tree = chain(3)
    with pytest.raises(DataError, match="damaged"):
        parse_trees(join_trees(head | change, [tree]))


STRANGE = [
    "", "-1", "99", "1_0", "1e999", "-0", "00", "nan", "inf", "0x1", "\r", "\x0b", "\x0c", "\t", " ", "=", "\n",
    "é", "\0", "2147483648", "-2147483649", "4294967295", "1e-400", ".5", "5.", "0.5", "1", "2", "3", "-2", "-5",
]  # fmt: skip


def mutated(text, rng):
    """The text with one or a few changes, and sizes of trees that fit."""
    head, trees = split_trees(text)
    for _ in range(rng.integers(1, 4)):
        lines = head if rng.random() < 0.15 else trees[rng.integers(len(trees))]
        name = list(lines)[rng.integers(len(lines))]
        how = rng.integers(6)
        tokens = lines[name].split(" ")
        position = rng.integers(len(tokens))
        strange = STRANGE[rng.integers(len(STRANGE))]
        if how == 0:
            tokens[position] = strange
        elif how == 1:
            tokens[position] = tokens[position] + strange
        elif how == 2:
            del tokens[position]
        elif how == 3:
            tokens.insert(position, strange)
        elif how == 4:
            other = rng.integers(len(tokens))
            tokens[position], tokens[other] = tokens[other], tokens[position]
        else:
            del lines[name]
            continue
        lines[name] = " ".join(tokens)
    return join_trees(head, trees)


def fuzz(n, seed):
    text = grown(rounds=3, num_leaves=6)[1]
    assert "cat_boundaries" in text
    X = strange_rows()[:64]
    rng = np.random.default_rng(seed)
    passed = 0
    for _ in range(n):
        changed = mutated(text, rng)
        try:
            trees = parse_trees(changed)
        except DataError:
            continue
        passed += 1
        again = lgb.Booster(model_str=write_text(trees))  # ends the process, or never ends, where a check is missing
        width = max(trees.n_features, 4)
        rows = np.zeros((len(X), width))
        rows[:, :4] = X
        scores = again.predict(rows[:, : trees.n_features], raw_score=True)
        np.testing.assert_allclose(scores, naive(trees, rows), rtol=1e-12, atol=1e-12)
    assert 0 < passed < n


def test_changed_texts_are_refused_or_scored():
    fuzz(150, 0)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_changed_texts_are_refused_or_scored(seed):
    fuzz(3000, seed)


def test_split_and_join_agree():
    _, text = grown(rounds=2)
    assert re.sub(r"tree_sizes=.*", "", join_trees(*split_trees(text))) == re.sub(r"tree_sizes=.*", "", text)
