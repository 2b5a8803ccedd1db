"""Comparisons with ties: probabilities, limits, maxima."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from plackett import LossError, RankingDataset
from plackett.losses import Logistic, RaoKupper, ThurstoneMosteller

MODELS = [RaoKupper(), RaoKupper(theta=1.05), ThurstoneMosteller(), ThurstoneMosteller(epsilon=2.0)]
WON, TIED = (RankingDataset.from_arrays(None, y) for y in ([1, 0], [1, 1]))


@pytest.mark.parametrize("loss", MODELS, ids=str)
@pytest.mark.parametrize("gap", [-5.0, -0.3, 0.0, 1.0, 4.0])
def test_the_three_probabilities_sum_to_1(loss, gap):
    scores = np.array([gap, 0.0])
    won, lost, tied = (np.exp(-loss(s, d)) for s, d in ((scores, WON), (-scores, WON), (scores, TIED)))
    assert won + lost + tied == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("gap", [-1.0, 0.0, 2.0])
def test_probabilities_by_the_formula(gap):
    scores, theta, epsilon = np.array([gap, 0.0]), 1.7, 0.4
    a, b = np.exp(scores)
    assert np.exp(-RaoKupper(theta=theta)(scores, WON)) == pytest.approx(a / (a + theta * b))
    tie = (theta**2 - 1) * a * b / ((a + theta * b) * (theta * a + b))
    assert np.exp(-RaoKupper(theta=theta)(scores, TIED)) == pytest.approx(tie)
    assert np.exp(-ThurstoneMosteller(epsilon=epsilon)(scores, WON)) == pytest.approx(ndtr(gap - epsilon))
    tie = ndtr(epsilon - gap) - ndtr(-epsilon - gap)
    assert np.exp(-ThurstoneMosteller(epsilon=epsilon)(scores, TIED)) == pytest.approx(tie)


def test_without_width_and_ties_it_is_ranknet():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 20))
    scores = rng.normal(size=20)
    for loss in (RaoKupper(theta=1.0, tie_weight=0.0), RaoKupper(theta=1.0 + 1e-12, tie_weight=0.0)):
        for mine, other in zip(loss.bind(data).evaluate(scores), Logistic().bind(data).evaluate(scores), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9)


@pytest.mark.parametrize("loss", MODELS, ids=str)
def test_a_tie_is_likeliest_for_equal_scores(loss):
    values = [loss(np.array([gap, 0.0]), TIED) for gap in np.linspace(-3, 3, 61)]
    assert np.argmin(values) == 30 and values == pytest.approx(values[::-1])
    np.testing.assert_allclose(loss.gradient(np.zeros(2), TIED)[0], 0.0, atol=1e-15)


def test_normal_tails_far_out():
    """Between the classical bounds of log Φ(-t): -t²/2 - log(t √(2π)), with and without log(1 - 1/t²)."""
    for t in (20.0, 34.9, 35.1, 300.0):
        result = -ThurstoneMosteller(epsilon=0.0, tie_weight=0.0)(np.array([-t, 0.0]), WON)
        bound = -0.5 * t * t - np.log(t * np.sqrt(2 * np.pi))
        assert bound + np.log1p(-1 / t**2) < result < bound


def test_refusals():
    for make, match in (
        (lambda: RaoKupper(theta=0.9), r"theta=0\.9"),
        (lambda: RaoKupper(theta=1.0), "tie_weight=0"),
        (lambda: ThurstoneMosteller(epsilon=-1.0), "epsilon=-1"),
        (lambda: RaoKupper(tie_weight=-1.0), "tie_weight=-1"),
    ):
        with pytest.raises(LossError, match=match):
            make()
