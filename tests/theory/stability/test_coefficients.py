"""Coefficients: worked numbers, limits, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plackett as pk
from plackett.theory.stability.ir_svm import ir_svm_query_stability
from plackett.theory.stability.listwise import listwise_query_stability
from plackett.theory.stability.pair_share import pair_share_bound
from plackett.theory.stability.rank_svm import (
    hinge_loss_bound,
    rank_svm_document_stability,
    rank_svm_query_stability,
)


def test_query_level_coefficients():
    kappa, penalty = 1.5, 0.2
    equal = rank_svm_query_stability(np.full(30, 7), penalty, kappa)
    assert equal == pytest.approx(ir_svm_query_stability(30, penalty, kappa)) == pytest.approx(4 * 2.25 / (0.2 * 30))
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = rng.integers(1, 200, 30)
        tau = rank_svm_query_stability(n, penalty, kappa)
        assert 4 * 2.25 / (0.2 * 30) <= tau <= 4 * 2.25 / 0.2
    assert rank_svm_query_stability([10**9, 1, 1], 1.0) == pytest.approx(4.0)
    assert rank_svm_query_stability([5, 5, 0], 1.0) == rank_svm_query_stability([5, 5], 1.0)


def test_document_level_coefficient():
    assert rank_svm_document_stability(10**4, 0.1) == pytest.approx(0.016)
    assert rank_svm_document_stability(10, 1.0, 2.0, 3.0) == pytest.approx(16 * 9 * 4 / 10)


@pytest.mark.parametrize("delta", [0.1, 0.5])
def test_share_of_the_largest_query_is_covered(delta):
    """Numbers of pairs with a long tail, of known mean and deviation."""
    shape, r = 2.5, 50
    mean, second = shape / (shape - 1), shape / (shape - 2)
    deviation = math.sqrt(second - mean**2)
    rng = np.random.default_rng(0)
    n = (1 - rng.random((4000, r))) ** (-1 / shape)
    slack = mean - np.quantile(n.mean(axis=1), 0.001)
    bound = pair_share_bound(r, mean, deviation, delta=delta, slack=slack)
    kept = n[n.mean(axis=1) >= mean - slack]
    ratio = kept.max(axis=1) / kept.mean(axis=1)
    assert (ratio <= bound).mean() >= 1 - delta
    assert ratio.max() > 0.4 * bound  # it is not far off


@pytest.mark.parametrize("penalty", [0.02, 0.5])
def test_trained_norms_keep_to_the_bound_of_the_loss(penalty):
    data = pk.theory.PlantedWorld(n_features=3).sample(30, 6, random_state=0)
    n = pk.theory.Risk("pairwise 0-1").associate_loss.associates.labelled(data)
    w = pk.RankSVM(C=1 / (2 * penalty * n.sum()), loss="hinge", standardize=False, tol=1e-4).fit(data).coef_
    assert 0 < np.linalg.norm(w) <= 1 / math.sqrt(penalty)
    kappa = float(np.linalg.norm(data.X, axis=1).max())
    s = np.asarray(data.X, float) @ w
    largest = 1 + np.ptp(s)
    assert largest <= hinge_loss_bound(penalty, kappa)


def test_listwise_slopes_are_those_of_the_losses():
    """Σ|∂L/∂s| of lists comes close to G and does not pass it."""
    rng = np.random.default_rng(0)
    m, n = 5, 3000
    data = pk.RankingDataset.from_arrays(None, np.tile(np.arange(m), n), np.repeat(np.arange(n), m))
    s = (rng.standard_normal((n, m)) * rng.choice([1.0, 10.0, 100.0], (n, 1))).ravel()
    for loss, G in ((pk.losses.ListMLELoss(), 2 * (m - 1)), (pk.losses.ListNetLoss(temperature=0.02), 2)):
        slopes = np.abs(loss.gradient(s, data)[0]).reshape(n, m).sum(axis=1)
        assert 0.95 * G < slopes.max() <= G + 1e-9
        assert listwise_query_stability(10, m, 1.0, loss=loss.name) == G**2 / 10
