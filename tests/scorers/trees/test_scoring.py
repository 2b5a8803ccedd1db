"""Scores of tree ensembles are LightGBM's, bit for bit."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett import DataError
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.build import build_trees
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.scoring import TreeKernels
from plackett.scorers.trees.text import parse_trees, trees_only
from scorers.trees.plain_masks import plain_scores

lgb = pytest.importorskip("lightgbm")

EDGES = np.array([0.0, -0.0, 1e-35, -1e-35, 1e-36, 2e-35, np.inf, -np.inf, np.nan, 1e-45, 1e38])


def table(n, seed, dtype=np.float64):
    """Few and many distinct values, zeros, NaN, and a column of codes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1] = np.round(X[:, 1], 1)
    X[rng.random(X.shape) < 0.1] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 70, n)
    return X.astype(dtype)


def grown(rounds=6, n=1200, **parameters):
    X = table(n, 0)
    y = np.nan_to_num(X[:, 0]) + X[:, 3] % 5 + np.nan_to_num(X[:, 1] * X[:, 2])
    options = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 2, "num_leaves": 20, "seed": 1} | parameters
    if "num_class" in options:
        y = np.digitize(y, [1.0, 3.0])
    booster = lgb.train(options, lgb.Dataset(X, y, categorical_feature=[3]), rounds)
    return booster, parse_trees(trees_only(booster.model_to_string(num_iteration=-1)))


def rows(trees, dtype):
    """Ordinary rows, rows with the edges of numbers, and rows on the thresholds and next to them."""
    X = table(150, 1, dtype)
    edges = np.repeat(EDGES.astype(dtype)[:, None], 5, axis=1)
    numeric = ~trees.categorical
    near = table(3 * int(min(numeric.sum(), 60)), 2, dtype)
    for i, split in enumerate(np.flatnonzero(numeric)[:60]):
        value = trees.threshold[split].astype(dtype)
        steps = (value, np.nextafter(value, dtype(np.inf)), np.nextafter(value, dtype(-np.inf)))
        near[3 * i : 3 * i + 3, trees.feature[split]] = steps
    codes = table(8, 3, dtype)
    codes[:, 3] = [-1.0, -0.5, 3.7, 69.0, 70.0, 1e6, 3e9, np.nan]
    return np.concatenate([X, edges, near, codes])


KINDS = {
    "NaN": {},
    "zero as missing": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "several outputs": {"objective": "multiclass", "num_class": 3},
    "stumps": {"num_leaves": 2},
    "one byte": {"num_leaves": 8},
    "64 leaves": {"num_leaves": 64, "rounds": 3},
    "256 leaves": {"num_leaves": 256, "rounds": 2, "min_data_in_leaf": 1},
    "300 leaves, by steps": {"num_leaves": 300, "rounds": 2, "min_data_in_leaf": 1},
    "many thresholds": {"max_bin": 1000, "num_leaves": 200, "rounds": 12, "min_data_in_leaf": 1},
    "many categories": {"max_cat_to_onehot": 1, "cat_smooth": 0.1, "min_data_per_group": 1},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parameters", KINDS.values(), ids=KINDS)
def test_equal_to_lightgbm(parameters, dtype):
    booster, trees = grown(**parameters)
    X = rows(trees, dtype)
    expected = booster.predict(X, raw_score=True, num_threads=1)
    kernels = TreeKernels(trees)
    assert kernels.masked == (np.diff(trees.leaf_offsets).max() <= 256)
    np.testing.assert_array_equal(kernels.predict(X), expected)
    for some in (X[:1], X[:3], X[:64], X[:65], X[:129], X[:256], X[:300]):  # by steps, blocks of all widths
        np.testing.assert_array_equal(kernels.predict(some), expected[: len(some)])
    np.testing.assert_array_equal(kernels.predict(np.asfortranarray(X)), expected)


@pytest.mark.parametrize("name", ["NaN", "zero as missing", "several outputs", "256 leaves", "many categories"])
def test_vectors_reach_the_leaves_that_plain_masks_reach(name):
    _, trees = grown(**KINDS[name])
    X = rows(trees, np.float64)[::9]
    np.testing.assert_array_equal(TreeKernels(trees).predict(X), plain_scores(trees, X))


@pytest.mark.parametrize("name", KINDS)
def test_walking_steps_and_masks_agree(name):
    _, trees = grown(**KINDS[name])
    X = rows(trees, np.float32)
    X.flags.writeable = False
    kernels = TreeKernels(trees)
    ways = [kernels._by_walking, kernels._by_steps] + ([kernels._by_masks] if kernels.masked else [])
    result = [np.full((len(X), trees.n_outputs), np.nan) for _ in ways]
    for way, out in zip(ways, result, strict=True):
        way(X, out, 1)
        np.testing.assert_array_equal(out, result[0])


def test_few_rows_go_by_steps_and_huge_trees_are_walked():
    _, trees = grown(num_leaves=64, rounds=20)
    kernels = TreeKernels(trees)
    assert 1 <= kernels.few < 64
    ways = [kernels._way(rows).__name__ for rows in (1, kernels.few, kernels.few + 1)]
    assert ways == ["_by_steps", "_by_steps", "_by_masks"]
    levels, n = 16, 2**16 - 1  # a full tree: the 16 bits of a step have no room for its nodes
    level = np.repeat(np.arange(levels), 2 ** np.arange(levels))
    position = np.arange(n) - (2**level - 1)
    threshold = (2 * position + 1) * 2.0 ** (levels - level - 1) - 0.5
    left, right = 2 * np.arange(n) + 1, 2 * np.arange(n) + 2
    left, right = (np.where(child < n, child, ~(child - n)) for child in (left, right))
    kernels = TreeKernels(build_trees(1, [n], np.zeros(n), threshold, left, right, np.arange(n + 1)))
    assert kernels.steps is None and kernels._way(1).__name__ == "_by_walking"
    assert kernels.predict(np.array([[-1.0], [17.0], [40_000.4], [1e9]])).tolist() == [0.0, 17.0, 40_000.0, 65_535.0]


def test_sparse_and_empty_tables():
    booster, trees = grown(zero_as_missing=False)
    kernels = TreeKernels(trees)
    X = np.nan_to_num(table(300, 5, np.float32))
    X[:, 4] = np.nan
    sparse = csr_matrix(X)
    np.testing.assert_array_equal(kernels.predict(sparse), booster.predict(sparse, raw_score=True, num_threads=1))
    assert kernels.predict(X[:0]).shape == (0,)
    assert kernels.predict(sparse[:0]).shape == (0,)
    assert TreeKernels(grown(**KINDS["several outputs"])[1]).predict(X[:0]).shape == (0, 3)


def test_threads_make_no_difference(monkeypatch):
    monkeypatch.setattr("plackett.scorers.trees.scoring._WORK_PER_THREAD", 1)
    _, trees = grown(num_leaves=60)
    X = table(3000, 7, np.float32)
    one = TreeKernels(trees).predict(X, 1)
    for n_jobs in (2, 3, 8, None):
        np.testing.assert_array_equal(TreeKernels(trees).predict(X, n_jobs), one)


def test_another_number_of_features_is_refused():
    _, trees = grown(rounds=1)
    with pytest.raises(DataError, match="4 features"):
        TreeKernels(trees).predict(np.zeros((2, 4)))


@pytest.mark.parametrize("kind", [">f8", ">f4", "f2", "i4", ">i4", "?", "g"])
def test_numbers_of_any_kind_are_read_by_value(kind):
    _, trees = grown(rounds=3)
    X = (4 * np.nan_to_num(table(70, 6))).round().astype(kind)
    expected = TreeKernels(trees).predict(X.astype(np.float64))
    for some in (X[:1], X):
        np.testing.assert_array_equal(TreeKernels(trees).predict(some), expected[: len(some)])


def test_scorer_needs_lightgbm_for_linear_leaves_only(monkeypatch):
    booster, trees = grown()
    X = table(50, 8)
    stored = TreeScorer.of(trees).to_arrays()
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    scorer = TreeScorer.from_arrays(stored)
    np.testing.assert_array_equal(scorer.predict(X, np.array([0, 50])), booster.predict(X, raw_score=True))
    monkeypatch.undo()
    linear = lgb.train({"linear_tree": True, "verbosity": -1}, lgb.Dataset(X[:, :2], np.arange(50.0)), 2)
    scorer = TreeScorer(trees_only(linear.model_to_string()))
    np.testing.assert_array_equal(scorer.predict(X[:, :2], np.array([0, 50])), linear.predict(X[:, :2]))
    assert scorer.predict(X[:0, :2], np.array([0])).shape == (0,)


def test_stored_as_arrays_or_as_text_it_is_the_same():
    booster, _ = grown(monotone_constraints=[1, 0, 0, 0, -1])
    text = trees_only(booster.model_to_string())
    old = TreeScorer.from_arrays({"lightgbm": np.frombuffer(text.encode(), np.uint8)})
    new = TreeScorer.from_arrays(TreeScorer(text).to_arrays())
    assert old.text == new.text
    X = table(40, 9)
    again = new.booster
    np.testing.assert_array_equal(again.predict(X, raw_score=True), booster.predict(X, raw_score=True))
    np.testing.assert_array_equal(again.predict(X, pred_contrib=True), booster.predict(X, pred_contrib=True))
    assert again.feature_importance("gain").tolist() == booster.feature_importance("gain").tolist()


# ------------------------------------------------------------------------------------------------------ hostile arrays


def changed(arrays, rng):
    """The arrays with a few numbers that mean something else, or with an array cut, grown or of another type."""
    arrays = dict(arrays)
    for _ in range(rng.integers(1, 4)):
        name = list(arrays)[rng.integers(len(arrays))]
        array = arrays[name].copy()
        how = rng.integers(10)
        if how == 0:
            array = array[: rng.integers(len(array) + 1)]
        elif how == 1:
            array = np.append(array, array[-1:])
        elif how == 2:
            array = np.zeros(array.size, [np.float32, np.int64, np.uint8][rng.integers(3)])
        elif array.size:
            position = rng.integers(array.size)
            if array.dtype.kind == "f":
                array[position] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.5, 1e18, 3.0])
            else:
                limits = np.iinfo(array.dtype)
                array[position] = rng.choice([limits.min, limits.max, limits.max // 2, 0, 1, 2, 3, 40])
        arrays[name] = array
    return arrays


def test_changed_arrays_are_refused_or_scored():
    """Whatever passes the check is scored by both kernels alike, and nothing ends the process."""
    _, trees = grown(rounds=3, num_leaves=12)
    arrays = trees.to_arrays()
    X = rows(trees, np.float64)[::7]
    rng = np.random.default_rng(0)
    passed = 0
    n = 1500
    for _ in range(n):
        try:
            result = TreeArrays.from_arrays(changed(arrays, rng))
        except DataError:
            continue
        passed += 1
        walked = TreeKernels(result)
        walked.masked = False
        np.testing.assert_array_equal(TreeKernels(result).predict(X), walked.predict(X))
    assert 0 < passed < n


def test_offsets_that_wrap_around_are_refused():
    arrays = grown(rounds=4)[1].to_arrays()
    big = np.iinfo(np.int64)
    for name in ("split_offsets", "leaf_offsets"):
        offsets = arrays[name].copy()
        offsets[1:4] = big.max, big.min, -1
        with pytest.raises(DataError, match="offsets"):
            TreeArrays.from_arrays(arrays | {name: offsets})


@pytest.mark.parametrize("n_outputs", [2, 10**9, 2**62])
def test_no_trees_give_no_more_than_one_output(n_outputs):
    """Nothing else in the file has as many entries as there are outputs: the scores would fill the memory."""
    arrays = build_trees(2, [], [], [], [], [], []).to_arrays()
    assert TreeKernels(TreeArrays.from_arrays(arrays)).predict(np.ones((3, 2))).tolist() == [0.0] * 3
    with pytest.raises(DataError, match="0 trees cannot give"):
        TreeArrays.from_arrays(arrays | {"n_outputs": np.array([n_outputs])})
