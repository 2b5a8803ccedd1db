"""Trees as plain comparisons: LightGBM's rules for zeros, missing values and categories are all kept."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.export import _forest
from plackett.export._forest import Forest, above32, above_double, floor32, largest_double
from plackett.scorers.trees.text import parse_trees, trees_only

SPECIAL = np.float32(
    [
        0.0,
        -0.0,
        1e-35,
        -1e-35,
        1e-36,
        -1e-36,
        2e-35,
        -2e-35,
        1e-40,
        -1e-40,
        np.nan,
        np.inf,
        -np.inf,
        3.4e38,
        -3.4e38,
        -1.0,
        -0.5,
        0.5,
        0.99,
        1.0,
        31.5,
        32.0,
        39.9,
        40.0,
        1e9,
        2.0**31,
        -5.0,
    ]
)


def walked(forest: Forest, X: np.ndarray) -> np.ndarray:
    """Scores by the definition."""
    out = np.zeros(len(X))
    for tree in forest:
        for i, x in enumerate(X):
            node = tree.root
            while node >= 0:
                value = x[tree.feature[node]]
                left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
                node = (tree.left if left else tree.right)[node]
            out[i] += tree.value[~node]
    return out


def table(rng):
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[::7, 1] = np.nan
    X[:, 2], X[::3, 3] = rng.integers(0, 40, 300), 0.0
    y = X[:, 0] + np.nan_to_num(X[:, 1]) + X[:, 2] % 3 + (X[:, 3] == 0)
    return X, y


def grown(X, y, settings, categories):
    import lightgbm as lgb

    params = {"num_leaves": 8, "min_data_in_leaf": 2, "min_data_per_group": 2, "cat_smooth": 0.1, "cat_l2": 0.1}
    params |= {"objective": "regression", "num_threads": 1, "verbose": -1} | settings
    return lgb.train(params, lgb.Dataset(X, y, categorical_feature=categories, params=params), 4)


@pytest.mark.parametrize(
    ("settings", "categories"),
    [
        ({}, []),
        ({"zero_as_missing": True}, []),
        ({"use_missing": False}, []),
        ({}, [2]),
        ({"zero_as_missing": True}, [2]),
    ],
)
def test_a_forest_decides_as_lightgbm_does(settings, categories):
    rng = np.random.default_rng(0)
    X, y = table(rng)
    booster = grown(X, y, settings, categories)
    forest = Forest.of(parse_trees(trees_only(booster.model_to_string())))
    rows = [X[:60]]
    for values in (
        SPECIAL,
        forest.threshold,
        above32(forest.threshold),
        np.nextafter(forest.threshold, -np.float32(1)),
    ):
        for j in range(X.shape[1]):
            changed = X[rng.integers(len(X), size=values.size)].copy()
            changed[:, j] = values
            rows.append(changed[: max(40, SPECIAL.size)])
    rows = np.concatenate(rows)
    np.testing.assert_array_equal(walked(forest, rows), booster.predict(rows, raw_score=True, num_threads=1))


def test_too_many_categories_are_refused(monkeypatch):
    text = trees_only(grown(*table(np.random.default_rng(0)), {}, [2]).model_to_string())
    monkeypatch.setattr(_forest, "_size", lambda *_: 10**6)
    with pytest.raises(DataError, match="fewer categories"):
        Forest.of(parse_trees(text))


def test_thresholds_of_other_precisions():
    """Every comparison gives the same answer on float32 around a threshold, and on the doubles that round to them."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32)
    t = bits.view(np.float32)
    largest = np.finfo(np.float32).max
    t = np.concatenate([t[np.isfinite(t)], np.float32([0.0, -0.0, 1e-45, -1e-45, 1e-38, largest, -largest])])
    doubles, above = largest_double(t), above_double(t)
    with np.errstate(over="ignore"):
        assert (doubles.astype(np.float32) <= t).all() and (above.astype(np.float32) > t).all()
    assert (above == np.nextafter(doubles, np.inf)).all()
    noise = rng.normal(size=t.size)
    wide = t.astype(np.float64) * (1 + 1e-9 * noise)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(wide <= doubles, wide.astype(np.float32) <= t)
    finite = t[t < largest]
    assert (above32(finite) > finite).all() and (
        floor32(above32(finite).astype(np.float64) * (1 - 1e-12))[finite > 0] == finite[finite > 0]
    ).all()
    assert largest_double(np.float32([np.inf]))[0] == np.inf and largest_double(np.float32([-np.inf]))[0] < -3.4e38
