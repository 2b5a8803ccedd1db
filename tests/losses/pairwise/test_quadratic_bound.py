"""The quadratic bound of QBRank lies above the loss, and touches it."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import Preferences, RankingDataset
from plackett.losses import QuadraticBound, SquaredHinge

rng = np.random.default_rng(0)
Y = rng.integers(0, 3, 20)
DATA = RankingDataset.from_arrays(None, Y, np.repeat([0, 1], 10), sample_weight=rng.uniform(0, 2, 20))
LISTED = DATA.replace(preferences=Preferences.from_pairs([(0, 1), (1, 2), (2, 0), (11, 15)], margin=[0.0, 1, 2, 5]))


@pytest.mark.parametrize("data", [DATA, LISTED], ids=["labels", "preferences"])
@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_lies_above_the_loss(data, size):
    loss = QuadraticBound(margin=0.7)
    for _ in range(50):
        scores, step = rng.normal(0, 2, 20), size * rng.normal(size=20)
        gradient, curvature = loss.gradient(scores, data)
        bound = loss(scores, data) + gradient @ step + 0.5 * curvature @ step**2
        assert SquaredHinge(margin=0.7)(scores + step, data) <= bound + 1e-9 * abs(bound)


def test_newton_steps_never_make_the_loss_larger():
    loss, scores = QuadraticBound(), rng.normal(0, 3, 20)
    before = loss(scores, DATA)
    for _ in range(30):
        gradient, curvature = loss.gradient(scores, DATA)
        scores = scores - np.divide(gradient, curvature, out=np.zeros(20), where=curvature > 0)
        after = loss(scores, DATA)
        assert after <= before * (1 + 1e-12)
        before = after
    assert before < 0.5 * loss(np.zeros(20), DATA)


def test_weight_is_twice_the_number_of_pairs():
    """For half the squared hinge, of which the loss is the double."""
    data = RankingDataset.from_arrays(None, Y)
    pairs = np.array([(y != Y).sum() for y in Y])
    np.testing.assert_allclose(QuadraticBound().gradient(rng.normal(0, 9, 20), data)[1] / 2, 2 * pairs)
