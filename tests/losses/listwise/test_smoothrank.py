"""SmoothRank: both ends of the width, continuity at ties, and that it does smooth (the printed formula does not)."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import SmoothRankLoss

LABELS = np.array([2.0, 0.0, 1.0, 0.0, 3.0, -1.0, 1.0])
DATA = RankingDataset.from_arrays(None, LABELS)
SCORES = np.array([0.3, 1.1, -0.4, 0.9, 0.2, 2.0, -1.5])
GAINS = np.array([3.0, 0.0, 1.0, 0.0, 7.0, 0.0, 1.0])
DISCOUNTS = 1 / np.log2(np.arange(2, 9))


def measured(measure):
    return evaluate(DATA, SCORES, [measure]).mean[measure]


@pytest.mark.parametrize("measure", ["nDCG", "AP"])
def test_narrow_is_the_measure(measure):
    assert SmoothRankLoss(measure=measure, sigma=1e-4)(SCORES, DATA) == pytest.approx(1 - measured(measure), abs=1e-9)
    assert abs(SmoothRankLoss(measure=measure, sigma=1.0)(SCORES, DATA) - 1 + measured(measure)) > 0.01


def test_wide_has_the_mean_gain_everywhere():
    ideal = np.sort(GAINS)[::-1] @ DISCOUNTS
    expected = 1 - GAINS.mean() * DISCOUNTS.sum() / ideal
    assert SmoothRankLoss(sigma=1e9)(SCORES, DATA) == pytest.approx(expected, abs=1e-6)


def test_every_rank_is_shared_out():
    """Equal gains, so every rank holds that gain whatever the scores: the shares of a rank add up to 1."""
    data = RankingDataset.from_arrays(None, [1.0] * 5)
    for sigma in (0.01, 1.0, 100.0):
        assert SmoothRankLoss(sigma=sigma)(np.array([0.1, 0.2, 3.0, -1.0, 0.2]), data) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("measure", ["nDCG", "AP"])
def test_continuous_at_ties(measure):
    """At a tie the gradient is the mean of both sides."""
    loss = SmoothRankLoss(measure=measure, sigma=0.5)
    tied = SCORES.copy()
    tied[1] = tied[3]
    sides = []
    for step in (-1e-7, 1e-7):
        moved = tied.copy()
        moved[1] += step
        assert loss(moved, DATA) == pytest.approx(loss(tied, DATA), abs=1e-6)
        sides.append(loss.gradient(moved, DATA)[0])
    np.testing.assert_allclose(loss.gradient(tied, DATA)[0], np.mean(sides, axis=0), atol=1e-6)
    assert np.abs(sides[0] - sides[1]).max() > 1e-3


def test_refusals():
    with pytest.raises(LossError, match="'nDCG', 'AP'"):
        SmoothRankLoss(measure="RR")
    with pytest.raises(LossError, match="sigma"):
        SmoothRankLoss(sigma=-1.0)
