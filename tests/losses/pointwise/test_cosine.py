"""Cosine loss: bounds, invariances, zero vectors."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett._base.errors import LossError
from plackett.losses.pointwise.cosine import Cosine


def random_query(rng, n=12):
    return RankingDataset.from_arrays(None, rng.integers(0, 4, n) * 1.0, np.zeros(n, int)), rng.normal(0, 2, n)


def test_bounds():
    rng = np.random.default_rng(0)
    for _ in range(50):
        data, scores = random_query(rng)
        assert 0 <= Cosine(transform="linear")(scores, data) <= 1
        for transform in ("exp", "logistic"):
            assert 0 <= Cosine(transform=transform)(scores, data) <= 0.5


def test_scale_of_scores():
    rng = np.random.default_rng(1)
    data, scores = random_query(rng)
    loss = Cosine(transform="linear")
    value = loss(scores, data)
    for factor in (0.01, 3.0, 1e6):
        np.testing.assert_allclose(loss(factor * scores, data), value)
        np.testing.assert_allclose(loss(-factor * scores, data), 1.0 - value)


@pytest.mark.parametrize("transform", ["exp", "logistic", "linear"])
def test_documents_twice(transform):
    rng = np.random.default_rng(2)
    data, scores = random_query(rng)
    twice = RankingDataset.from_arrays(None, np.tile(data.y, 2), np.zeros(24, int))
    loss = Cosine(transform=transform)
    np.testing.assert_allclose(loss(np.tile(scores, 2), twice), loss(scores, data))
    # as often as it weighs
    weights = rng.integers(0, 3, 12)
    rows = np.repeat(np.arange(12), weights)
    copied = RankingDataset.from_arrays(None, data.y[rows], np.zeros(rows.size, int))
    np.testing.assert_allclose(loss(scores, data.replace(sample_weight=weights * 1.0)), loss(scores[rows], copied))


def test_gradient_as_printed():
    """∂L/∂s = −½ (g/|s| − (g·s) s/|s|³) for the linear transform."""
    rng = np.random.default_rng(3)
    data, s = random_query(rng)
    g = data.y / np.linalg.norm(data.y)
    length = np.linalg.norm(s)
    expected = -0.5 * (g / length - (g @ s) * s / length**3)
    np.testing.assert_allclose(Cosine(transform="linear").gradient(s, data)[0], expected, atol=1e-14)


def test_zero_vectors():
    data = RankingDataset.from_arrays(None, [3.0, 4.0, 0.0, 0.0], [1, 1, 2, 2])
    value, gradient, _ = Cosine(transform="linear").bind(data).evaluate(np.zeros(4))
    assert value.tolist() == [0.5, 0.0]
    np.testing.assert_allclose(gradient, [-0.3, -0.4, 0.0, 0.0])


def test_refusal():
    with pytest.raises(LossError, match="transform='tanh'"):
        Cosine(transform="tanh")
