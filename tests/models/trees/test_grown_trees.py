"""Trees one after the other: leaves against LightGBM's own prediction, sums against a plain loop."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

from plackett.models.trees.grown_trees import Grower
from plackett.models.trees.leaf_table import LeafTable
from plackett.scorers.trees.text import join_trees


@pytest.mark.parametrize(("outputs", "leaves"), [(1, 6), (3, 6), (1, 400)])
def test_leaves_are_those_of_lightgbm(outputs, leaves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X[::7, 1] = np.nan
    X[:, 2] = rng.integers(0, 20, 1500)
    parts = X[:1000], X[1000:]
    settings = {"num_leaves": leaves, "min_data_in_leaf": 2, "num_class": outputs, "verbosity": -1, "metric": "none"}
    settings |= {"num_threads": 1, "feature_pre_filter": False, "objective": "none"}
    train = lgb.Dataset(parts[0], np.zeros(1000), params=settings, categorical_feature=[2], free_raw_data=False)
    sets = [train, lgb.Dataset(parts[1], np.zeros(500), reference=train, params=settings, free_raw_data=False)]
    grower = Grower(settings, sets, [np.array([0, len(part)]) for part in parts], 1)
    kept, tokens = [], []
    for i in range(6):
        shape = (1000,) if outputs == 1 else (1000, outputs)
        grown = grower.grow(rng.normal(size=shape), rng.uniform(0.5, 2, shape), kept)
        if i != 2:  # the third is forgotten, and the fourth takes its place
            kept.append(grown)
        tokens.append(grown)
    assert tokens[3].slot == tokens[2].slot
    times = np.array([1.0, 0.5, 0.25, 3.0, 0.1])
    text = join_trees(grower.head, [tree for t, n in zip(kept, times, strict=True) for tree in t.scaled(n)])
    scorer = lgb.Booster(model_str=text)
    for part, rows in enumerate(parts):
        result = np.full((outputs, len(rows)), 0.0)
        grower.add(kept, times, part, result)
        expected = scorer.predict(rows, raw_score=True).reshape(len(rows), outputs)
        np.testing.assert_array_equal(result.T, expected)  # to the last bit: equal scores stay equal
    weight = rng.uniform(size=1000)
    alone = lgb.Booster(model_str=join_trees(grower.head, kept[1].texts)).predict(parts[0], raw_score=True)
    expected = np.abs(alone.reshape(1000, -1)).sum(axis=1) @ weight / weight.sum()
    assert grower.size(kept[1], weight) == pytest.approx(expected)


def test_no_split_is_no_tree_but_the_first():
    X = np.ones((20, 1))
    settings = {"min_data_in_leaf": 1, "verbosity": -1, "metric": "none", "feature_pre_filter": False}
    settings["objective"] = "none"
    grower = Grower(settings, [lgb.Dataset(X, np.zeros(20), params=settings)], [np.array([0, 20])], 1)
    first = grower.grow(np.linspace(-1, 1, 20), np.ones(20), [])
    assert first.values[0].tolist() == [0.0]
    assert grower.grow(np.linspace(-1, 1, 20), np.ones(20), [first]) is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_table_against_a_loop(n_jobs):
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 900, 100))))
    table = LeafTable(offsets, n_jobs)
    lines, values = {}, {}
    for line, leaves in ((0, 4), (3, 256), (1, 300), (0, 7), (9, 2)):  # widened by the third, rewritten by the fourth
        values[line] = rng.normal(size=leaves)
        lines[line] = rng.integers(0, leaves, offsets[-1]).astype(np.min_scalar_type(leaves - 1))
        table.put(line, lines[line])
    start = rng.normal(size=offsets[-1])
    expected, result = start.copy(), start.copy()
    for line in (9, 0, 1, 3):
        expected += values[line][lines[line]]
    table.add([9, 0, 1, 3], [values[line] for line in (9, 0, 1, 3)], result)
    np.testing.assert_array_equal(result, expected)
    table.add([], [], result)
    np.testing.assert_array_equal(result, expected)
