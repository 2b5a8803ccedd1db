"""Trees of other libraries: equal thresholds against the comparison itself, and XGBoost's own scores."""

from __future__ import annotations

import json

import numpy as np
import pytest

from plackett import DataError
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.build import build_trees, equal_threshold
from plackett.scorers.trees.scorer import TreeScorer

LARGEST = float(np.finfo(np.float32).max)
THRESHOLDS = [0.0, 1.0, -1.0, 0.1, 1e-45, -1e-45, 1e-38, LARGEST, -LARGEST, np.inf, 3.0]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("comparison", ["<=", "<"])
@pytest.mark.parametrize("rounded", [False, True])
def test_equal_thresholds_decide_alike(comparison, rounded):
    threshold = np.array(THRESHOLDS, np.float32).astype(np.float64)
    result = equal_threshold(threshold, comparison, rounded)
    for t, equal in zip(threshold, result, strict=True):
        near = [t, equal]
        near += [np.float64(np.nextafter(np.float32(t), np.float32(side))) for side in (-np.inf, np.inf)]
        near += [0.5 * (np.clip(t, -LARGEST, LARGEST) + v) for v in near if np.isfinite(v)]
        for _ in range(2):
            near += [np.nextafter(v, side) for v in near for side in (-np.inf, np.inf)]
        x = np.array([*near, 0.0, -0.0, 1e-50, -1e-50, 1e300, -1e300, np.inf, -np.inf])
        with np.errstate(over="ignore"):
            seen = x.astype(np.float32).astype(np.float64) if rounded else x
        expected = seen <= t if comparison == "<=" else seen < t
        np.testing.assert_array_equal(x <= equal, expected, err_msg=f"threshold {t}")


def test_xgboost_is_scored_alike():
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    X[:, 1] = np.round(X[:, 1], 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 2])
    booster = xgb.train({"max_depth": 5, "nthread": 1, "base_score": 0.0}, xgb.DMatrix(X, y), 8)
    trees = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
    columns: dict[str, list] = {name: [] for name in ("feature", "threshold", "left", "right", "value", "side", "size")}
    for tree in trees:
        leaf = np.array(tree["left_children"]) < 0
        number = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1)
        split = np.flatnonzero(~leaf)
        columns["size"].append(split.size)
        columns["feature"].append(np.array(tree["split_indices"])[split])
        columns["threshold"].append(np.array(tree["split_conditions"], np.float32)[split])
        columns["side"].append(np.array(tree["default_left"], bool)[split])
        for side in ("left", "right"):
            columns[side].append(number[np.array(tree[f"{side}_children"])[split]])
        columns["value"].append(np.array(tree["split_conditions"], np.float32)[leaf])
    names = ("feature", "threshold", "left", "right", "value", "side")
    feature, threshold, left, right, value, side = (np.concatenate(columns[name]) for name in names)
    built = build_trees(4, columns["size"], feature, threshold, left, right, value, comparison="<",
                        float32_inputs=True, missing_left=side)  # fmt: skip
    near = np.repeat(X[:60], 3, axis=0)
    for i in range(60):
        t = np.float32(threshold[i])
        near[3 * i : 3 * i + 3, feature[i]] = (t, np.nextafter(t, np.float32(-1e9)), np.nextafter(float(t), -1e9))
    near = np.concatenate([near, np.full((1, 4), np.nan), np.full((1, 4), -1e-40), np.zeros((1, 4))])
    leaves = booster.predict(xgb.DMatrix(near), pred_leaf=True)
    scorer = TreeScorer.of(built)
    values = [np.array(tree["split_conditions"], np.float32).astype(np.float64) for tree in trees]
    expected = np.zeros(len(near))
    for t, of_tree in enumerate(values):
        expected += of_tree[leaves[:, t].astype(int)]
    for rows in (near, near.astype(np.float32)):
        for n in (len(near), 2):
            np.testing.assert_array_equal(scorer.predict(rows[:n], np.array([0, n])), expected[:n])
    again = TreeScorer.from_arrays(scorer.to_arrays())
    assert again.trees.tiny == 0.0
    np.testing.assert_array_equal(again.predict(near, np.array([0, len(near)])), expected)


def test_what_is_wrong_is_named():
    stump = {"feature": [0], "threshold": [0.5], "left": [~0], "right": [~1], "leaf_value": [0.0, 1.0]}
    assert isinstance(build_trees(1, [1], **stump), TreeArrays)
    for change, message in (
        ({"feature": [1]}, "feature outside"),
        ({"left": [0]}, "before its parent"),
        ({"right": [~2]}, "beyond the nodes"),
        ({"right": [~0]}, "not linked"),
        ({"leaf_value": [0.0]}, "leaves"),
        ({"leaf_value": [0.0, np.nan]}, "not finite"),
        ({"threshold": [np.nan]}, "without a threshold"),
        ({"comparison": ">"}, "comparison"),
        ({"threshold": [0.1], "float32_inputs": True}, "not a float32"),
    ):
        with pytest.raises(DataError, match=message):
            build_trees(1, [1], **(stump | change))
