"""Binary losses: what they bound and where they are least."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from plackett import RankingDataset
from plackett.losses.pointwise.binary_hinge import BinaryHinge
from plackett.losses.pointwise.binary_logistic import BinaryLogistic


def data_of(labels, **columns):
    return RankingDataset.from_arrays(None, labels, np.zeros(len(labels), int), **columns)


def test_hinge_is_at_least_the_number_of_mistakes():
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels, scores = rng.integers(0, 2, 20).astype(float), rng.normal(size=20)
        mistakes = ((scores > 0) != (labels > 0)).sum()
        assert BinaryHinge()(scores, data_of(labels)) >= mistakes


def test_logistic_gradient_is_probability_less_label():
    rng = np.random.default_rng(1)
    labels, scores, weights = rng.integers(-1, 4, 50).astype(float), rng.normal(0, 5, 50), rng.uniform(0, 2, 50)
    gradient, curvature = BinaryLogistic(rel=2.0).gradient(scores, data_of(labels, sample_weight=weights))
    p = expit(scores)
    counted = weights * (labels >= 0)
    np.testing.assert_allclose(gradient, counted * (p - (labels >= 2)), atol=1e-14)
    np.testing.assert_allclose(curvature, counted * p * (1 - p), atol=1e-14)


def test_one_score_for_all_is_the_base_rate():
    labels = np.array([1.0, 0, 0, 0])
    odds = np.log(0.25 / 0.75)
    gradient, _ = BinaryLogistic().gradient(np.full(4, odds), data_of(labels))
    assert abs(gradient.sum()) < 1e-15
