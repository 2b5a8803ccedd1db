"""Sigmoid loss: bounds, limit, and what an outlier does."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import Hinge, Sigmoid

PAIR = RankingDataset.from_arrays(None, [1, 0])


def test_between_0_and_1_falling_and_one_half_at_0():
    values = np.array([Sigmoid(sigma=5.0)(np.array([z, 0.0]), PAIR) for z in np.linspace(-7, 7, 57)])
    assert (values > 0).all() and (values <= 1).all() and (np.diff(values) < 0).sum() > 50
    assert Sigmoid(sigma=5.0)(np.array([0.0, 0.0]), PAIR) == 0.5
    assert Sigmoid(sigma=5.0)(np.array([-0.4, 0.0]), PAIR) == pytest.approx(1 / (1 + np.exp(-2.0)))  # a mistake costs


def test_counts_misordered_pairs_as_sigma_grows():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 30), rng.permutation(30).astype(float)
    data = RankingDataset.from_arrays(None, y)
    wrong = sum(scores[u] < scores[v] for u in range(30) for v in range(30) if y[u] > y[v])
    assert Sigmoid(sigma=60.0)(scores, data) == pytest.approx(wrong, abs=1e-9)


def test_a_gross_outlier_pulls_less_than_under_the_hinge():
    far = np.array([-20.0, 0.0])
    assert abs(Sigmoid().gradient(far, PAIR)[0][0]) < 1e-8
    assert Hinge().gradient(far, PAIR)[0][0] == -1.0


def test_sigma_is_positive():
    with pytest.raises(LossError, match="sigma=0"):
        Sigmoid(sigma=0.0)
