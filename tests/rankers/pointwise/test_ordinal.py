"""Ordinal rankers: thresholds learned along, and a tree whose leaves are grades."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.tree import DecisionTreeRegressor

from plackett import RankingDataset
from plackett.losses.pointwise.all_threshold import AllThresholdLoss
from plackett.losses.pointwise.immediate_threshold import ImmediateThresholdLoss
from plackett.rankers.pointwise.all_threshold import AllThreshold
from plackett.rankers.pointwise.immediate_threshold import ImmediateThreshold
from plackett.rankers.pointwise.ordinal_tree import OrdinalTree


def task(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.digitize(X @ [1.0, -0.5, 0.0] + rng.normal(0, 0.5, n), [-0.8, 0.0, 1.2]).astype(float)
    return X, y, np.repeat(np.arange(n // 10), 10)


@pytest.mark.parametrize("penalty", ["logistic", "squared_hinge"])
@pytest.mark.parametrize(
    ("ranker", "loss"), [(ImmediateThreshold, ImmediateThresholdLoss), (AllThreshold, AllThresholdLoss)]
)
def test_weights_and_thresholds_together(ranker, loss, penalty):
    """The optimum over weights and thresholds at once, by a general solver."""
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    alpha = 0.01

    def objective(p):
        return loss(penalty=penalty, thresholds=p[3:])(X @ p[:3], data) / 15 + 0.5 * alpha * (p[:3] ** 2).sum()

    best = minimize(objective, np.array([0, 0, 0, -1.0, 0, 1]), tol=1e-10).x
    fitted = ranker(penalty=penalty, alpha=alpha, standardize=False, tol=1e-12, max_iter=2000, n_jobs=1)
    weights = fitted.fit(X, y, qid=qid).scorer_.weights[:, 0]
    np.testing.assert_allclose(weights, best[:3], atol=1e-3)


def test_hinge():
    """A hinge is not smooth; stochastic steps get near the best value."""
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    loss = AllThresholdLoss(penalty="hinge", thresholds="learned")
    values = {
        penalty: loss(AllThreshold(penalty=penalty, n_jobs=1).fit(X, y, qid=qid).predict(data), data)
        for penalty in ("hinge", "squared_hinge")
    }
    assert values["hinge"] < 1.05 * values["squared_hinge"]


@pytest.mark.parametrize("leaf", ["median", "mode", "rounded"])
def test_leaves_are_grades(leaf):
    X, y, qid = task()
    predicted = OrdinalTree(leaf=leaf, num_leaves=8, min_child_samples=5, n_jobs=1).fit(X, y, qid=qid).predict(X)
    assert set(predicted) <= set(y)
    assert np.abs(predicted - y).mean() < np.abs(np.median(y) - y).mean()


def test_separable_data_are_learned_perfectly():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 20, (200, 2)).astype(np.float32)
    y = np.digitize(X[:, 0], [5, 12]).astype(float)
    exact = {"min_data_in_bin": 1}
    ranker = OrdinalTree(num_leaves=3, min_child_samples=1, lightgbm_params=exact, n_jobs=1)
    np.testing.assert_array_equal(ranker.fit(X, y, qid=np.arange(200) // 10).predict(X), y)


def test_leaf_values_against_scikit_learn():
    """The same partition as CART; in each leaf the weighted median of the labels."""
    X, y, qid = task()
    weights = np.arange(y.size) % 4 + 1.0
    exact = {"min_data_in_bin": 1, "max_bin": 1000, "min_sum_hessian_in_leaf": 0.0}
    ranker = OrdinalTree(num_leaves=4, min_child_samples=1, lightgbm_params=exact, n_jobs=1)
    predicted = ranker.fit(X, y, qid=qid, sample_weight=weights).predict(X)
    cart = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(X, y, sample_weight=weights)
    leaves = cart.apply(X)
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        copies = np.repeat(y[inside], weights[inside].astype(int))
        expected = np.sort(copies)[(copies.size - 1) // 2]
        assert np.mean(predicted[inside] == expected) > 0.95  # thresholds between two values are rounded differently


def test_refusal():
    X, y, qid = task()
    with pytest.raises(ValueError, match="leaf='mean'"):
        OrdinalTree(leaf="mean").fit(X, y, qid=qid)
