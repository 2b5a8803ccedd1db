"""Ramp loss: the difference of two hinges."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import Hinge, Ramp


@pytest.mark.parametrize("s", [-1.0, 0.0, 0.4])
def test_is_a_hinge_less_a_hinge(s):
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 40), np.repeat([0, 1], 20))
    scores = rng.normal(0, 2, 40)
    ramp, first, second = Ramp(height=1.0 - s), Hinge(margin=1.0), Hinge(margin=s)
    assert ramp(scores, data) == pytest.approx(first(scores, data) - second(scores, data), rel=1e-12)
    slope, flat = first.gradient(scores, data)[0], second.gradient(scores, data)[0]
    np.testing.assert_allclose(ramp.gradient(scores, data)[0], slope - flat, atol=1e-12)


@pytest.mark.parametrize("z", [-9.0, -1.5, -0.5, 0.3, 1.0, 4.0])
def test_one_pair_by_the_formula(z):
    pair = RankingDataset.from_arrays(None, [1, 0])
    assert Ramp(height=2.0)(np.array([z, 0.0]), pair) == pytest.approx(min(2.0, max(0.0, 1.0 - z)))
    pull = -Ramp(height=2.0).gradient(np.array([z, 0.0]), pair)[0][0]
    assert pull == (1.0 if -1.0 <= z < 1.0 else 0.0)


def test_height_is_positive():
    with pytest.raises(LossError, match="height=0"):
        Ramp(height=0.0)
