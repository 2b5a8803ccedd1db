"""XE-NDCG: its gradient, and its bound on nDCG."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import XENDCGLoss


def test_gradient_is_a_difference_of_distributions():
    labels, scores = np.array([2.0, 0.0, 1.0]), np.array([0.3, 1.0, -1.0])
    target = np.array([4.0, 1.0, 2.0]) - 0.5
    result, curvature = XENDCGLoss().gradient(scores, RankingDataset.from_arrays(None, labels))
    np.testing.assert_allclose(result, softmax(scores) - target / target.sum())
    np.testing.assert_allclose(curvature, softmax(scores) * (1 - softmax(scores)))


def test_bounds_ndcg():
    """With γ = 0 the cross entropy −Σ P log Q is at least −log of nDCG (Bruch's theorem 1)."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = rng.integers(0, 4, 8).astype(float)
        labels[0] = 3.0
        labels[1] = 0.0
        data, scores = RankingDataset.from_arrays(None, labels), rng.normal(size=8)
        p = 2.0**labels / (2.0**labels).sum()
        cross = XENDCGLoss(gamma=0.0)(scores, data) - p @ np.log(p)
        assert cross >= -np.log(evaluate(data, scores, ["nDCG"]).mean["nDCG"])


def test_noise():
    data = RankingDataset.from_arrays(None, [1.0, 1.0, 0.0])
    scores = np.zeros(3)
    one, again, other = (XENDCGLoss(random_state=seed).gradient(scores, data)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other) and one[0] != one[1]
    with pytest.raises(LossError, match="gamma"):
        XENDCGLoss(gamma=1.0)
