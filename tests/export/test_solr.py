"""Solr adds 1e-6 to thresholds: round numbers stay on their side."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np

import plackett as pk
from plackett.export.solr import score_solr, slackless

SLACK = np.float32(1e-6)


def test_round_numbers_are_on_the_right_side_of_thresholds_on_and_next_to_them():
    """-1 and -32 are not the sum of any float32 and 1e-6."""
    whole = np.arange(-40_000, 40_001)
    values = np.concatenate([whole, whole / 4, whole / 10]).astype(np.float32)
    values = values[np.abs(values) >= 0.05]
    reached = np.float32([-1.0, -32.0])
    assert (slackless(reached) + SLACK != reached).all()
    for end in (values, np.float32(-np.inf), np.float32(np.inf)):
        threshold = np.nextafter(values, end)
        np.testing.assert_array_equal(values <= slackless(threshold) + SLACK, values <= threshold)


def test_zeros_are_on_the_right_side_of_thresholds_close_to_them():
    tiny = np.float32([1e-45, 1e-35, 1e-20, 1e-13, 1e-9, 9e-7])
    threshold = np.concatenate([-tiny, tiny, [0.0, -0.0, np.inf, -np.inf]]).astype(np.float32)
    np.testing.assert_array_equal(slackless(threshold) + SLACK >= 0, threshold >= 0)


def test_an_unknown_category_is_not_the_first_one(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 1)).astype(np.float32)
    y = np.float64([3, 0, 1, 3, 0, 2])[X[:, 0].astype(int)]
    params = {"num_leaves": 4, "min_data_in_leaf": 2, "min_data_per_group": 2, "cat_smooth": 0.1, "cat_l2": 0.1}
    params |= {"verbose": -1, "num_threads": 1, "max_cat_to_onehot": 1}
    lgb.train(params, lgb.Dataset(X, y, categorical_feature=[0], params=params), 5).save_model(tmp_path / "m.txt")
    ranker = pk.read_lightgbm(tmp_path / "m.txt")
    rows = np.arange(-2, 8, dtype=np.float32)[:, None]
    expected = ranker.predict(rows)
    assert abs(expected[1] - expected[2]) > 0.1  # the code -1 scores unlike the category 0
    pk.write_solr(ranker, tmp_path / "m.json")
    np.testing.assert_allclose(score_solr(tmp_path / "m.json", rows, ("f1",)), expected, rtol=1e-6, atol=1e-6)
