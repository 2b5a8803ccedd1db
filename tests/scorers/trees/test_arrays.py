"""Stored arrays of trees: files of earlier versions, and arrays that a stranger has changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from plackett import DataError
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.build import build_trees
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.scoring import TreeKernels

lgb = pytest.importorskip("lightgbm")


def stored():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = rng.integers(0, 40, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + X[:, 3] % 3
    options = {"verbosity": -1, "num_threads": 1, "num_leaves": 9, "min_data_in_leaf": 2, "objective": "regression"}
    booster = lgb.train(options, lgb.Dataset(X, np.nan_to_num(y), categorical_feature=[3]), 4)
    return TreeScorer(booster.model_to_string().split("end of trees\n")[0] + "end of trees\n").to_arrays(), X[:70]


def changed(arrays, rng):
    """One entry, the length or the type of one array is another."""
    arrays = {name: np.array(values) for name, values in arrays.items()}
    name = rng.choice(list(arrays))
    values, kind = arrays[name], rng.integers(4)
    if kind == 0:
        arrays[name] = values[: rng.integers(values.size + 1)]
    elif kind == 1:
        arrays[name] = np.concatenate([values, values[-1:]]) if rng.random() < 0.8 else values.astype(np.float16)
    elif values.size:
        position = rng.integers(values.size)
        if values.dtype.kind == "f":
            values[position] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 0.0, -1.0, 3.0, 2.0**40])
        else:
            bounds = np.iinfo(values.dtype)
            choices = [bounds.min, bounds.max, 0, 1, 5, values[position] ^ (1 << int(rng.integers(7)))]
            values[position] = rng.choice(np.array(choices).astype(values.dtype))
    return arrays


def fuzz(n, seed):
    arrays, X = stored()
    X = np.ascontiguousarray(X)
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(n):
        try:
            trees = TreeArrays.from_arrays(changed(arrays, rng))
            rows = X if trees.n_features == 4 else np.zeros((70, trees.n_features))
        except DataError:
            refused += 1
            continue
        kernels = TreeKernels(trees)
        result = [np.zeros((70, trees.n_outputs)) for _ in range(3)]
        for way, out in zip((kernels._by_walking, kernels._by_steps, kernels._by_masks), result, strict=True):
            rows.flags.writeable = False
            way(rows, out, 1)
            np.testing.assert_array_equal(out, result[0])
    return refused


def test_changed_arrays_are_refused_or_scored():
    assert 40 < fuzz(150, 0) < 150


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_changed_arrays_are_refused_or_scored(seed):
    assert 0 < fuzz(3000, seed) < 3000


def test_pickled_trees_keep_their_rule():
    trees = build_trees(1, [1], [0], [0.0], [~0], [~1], [1.0, 2.0], comparison="<", float32_inputs=True)
    again = pickle.loads(pickle.dumps(TreeScorer.of(trees)))
    assert again.predict(np.array([[-1e-40], [0.0]]), np.array([0, 2])).tolist() == [1.0, 2.0]
