"""SoftNDCG, SoftPC and SoftAP: limits, exact small cases, simulation, and the approximation for long lists."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import SoftAP, SoftNDCG, SoftPC
from plackett.losses.listwise._rank_distribution import expectation


def one_list(labels):
    return RankingDataset.from_arrays(None, labels)


def distribution(chances):
    """P(count = c) from the expectations of indicator tables."""
    n = len(chances)
    members, scratch = np.arange(n), np.empty((n + 1, n + 1))
    return np.array(
        [expectation(chances, members, n, row, scratch, np.empty(n + 1), np.empty(n)) for row in np.eye(n + 1)]
    )


def test_rank_distribution():
    rng = np.random.default_rng(0)
    chances = np.append(rng.random(6), [0.0, 1.0])
    result = distribution(chances)
    np.testing.assert_allclose(result.sum(), 1.0)
    np.testing.assert_allclose(distribution(rng.permutation(chances)), result, atol=1e-15)
    expected = np.zeros(9)
    for outcome in np.ndindex(*[2] * 8):
        p = np.prod([c if o else 1 - c for c, o in zip(chances, outcome, strict=True)])
        expected[sum(outcome)] += p
    np.testing.assert_allclose(result, expected, atol=1e-14)
    np.testing.assert_allclose(result @ np.arange(9), chances.sum())


def test_two_documents():
    for gap, sigma in ((0.0, 1.0), (0.7, 0.5), (-2.0, 1.5)):
        p = norm.cdf(gap / (np.sqrt(2) * sigma))  # the relevant document is ahead
        result = SoftNDCG(sigma=sigma)(np.array([gap, 0.0]), one_list([1, 0]))
        assert result == pytest.approx((1 - p) * (1 - 1 / np.log2(3)))


def test_expected_rank_is_that_of_noisy_scores():
    """Contests are not independent, but the mean of the number ahead does not mind: 1 + Σ ½(1 + erf)."""
    scores, sigma = np.array([0.3, -0.2, 1.0, 0.8]), 0.6
    rng = np.random.default_rng(1)
    drawn = scores + sigma * rng.normal(size=(200_000, 4))
    ranks = 1 + (drawn[:, :, None] < drawn[:, None, :]).sum(axis=2)
    p = norm.cdf((scores[:, None] - scores) / (np.sqrt(2) * sigma))
    np.testing.assert_allclose(ranks.mean(axis=0), 0.5 + p.sum(axis=0), atol=0.01)


@pytest.mark.parametrize("max_exact", [0, 100])
def test_without_noise_it_is_the_measure(max_exact):
    rng = np.random.default_rng(2)
    sizes = [12, 5, 30, 8]
    data = RankingDataset.from_arrays(None, rng.integers(-1, 4, sum(sizes)).astype(float), group=sizes)
    scores = rng.permutation(sum(sizes)).astype(float)
    for loss, measure in (
        (SoftNDCG, "nDCG"),
        (SoftAP, "AP"),
    ):
        result = loss(sigma=1e-3, max_exact=max_exact)(scores, data)
        assert result == pytest.approx(4 - 4 * evaluate(data, scores, [measure]).mean[measure], abs=1e-5)
    result = SoftPC(k=3, sigma=1e-3, max_exact=max_exact)(scores, data)
    assert result == pytest.approx(4 - 4 * evaluate(data, scores, ["P@3"]).mean["P@3"], abs=1e-5)


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_long_lists(sigma):
    """The approximation is near what it stands for, in value and gradient, and its gradient is its own."""
    rng = np.random.default_rng(3)
    data = one_list(rng.choice([0.0, 1.0, 2.0, 3.0], 90, p=[0.7, 0.1, 0.1, 0.1]))
    scores = 0.5 * data.labels + rng.normal(size=90)
    for cls in (SoftNDCG, SoftAP, SoftPC):
        exact, short = cls(sigma=sigma), cls(sigma=sigma, max_exact=0)
        assert short(scores, data) == pytest.approx(exact(scores, data), abs=0.01)
        slope, near = exact.gradient(scores, data)[0], short.gradient(scores, data)[0]
        assert np.corrcoef(slope, near)[0, 1] > 0.98
        step = 1e-5 * rng.normal(size=90)
        moved = short(scores + step, data) - short(scores - step, data)
        assert near @ (2 * step) == pytest.approx(moved, rel=1e-4)


def test_relevance():
    data = one_list([0.2, 0.7])
    for cls in (SoftAP, SoftPC):
        with pytest.raises(LossError, match="label"):
            cls().settle(data)
        cls(rel=0.5).settle(data)
    with pytest.raises(LossError, match="sigma"):
        SoftNDCG(sigma=0.0)
