from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plackett.evaluation.significance import bootstrap, confidence_interval
from plackett.evaluation.significance.bootstrap import resampled_means


@pytest.mark.parametrize("n", [4, 5])
def test_resampled_means_have_the_exact_distribution(n):
    """All n^n samples of a tiny list are equally likely: compare the frequency of each possible mean."""
    values = 10.0 ** np.arange(n)  # a sum tells how often each was drawn
    grid = np.stack(np.meshgrid(*[values] * n), -1).reshape(-1, n).sum(1)
    possible, weight = np.unique(grid, return_counts=True)
    drawn = np.rint(resampled_means(values, 100_000, random_state=1) * n)
    counts = np.array([(drawn == v).sum() for v in possible])
    assert counts.sum() == 100_000
    assert stats.chisquare(counts, weight / weight.sum() * 100_000).pvalue > 1e-4


def test_columns_share_their_samples():
    rng = np.random.default_rng(0)
    values = rng.random((30, 3))
    means = resampled_means(values, 500)
    assert means.shape == (500, 3)
    np.testing.assert_allclose(means[:, 1], resampled_means(values[:, 1], 500), rtol=1e-12)
    np.testing.assert_array_equal(means, resampled_means(values, 500, n_jobs=3))


def test_shift_method_near_the_t_test():
    rng = np.random.default_rng(3)
    a = rng.random(200)
    b = a + rng.normal(0.02, 0.2, 200)
    result = bootstrap(a, b, n_resamples=40_000)
    # numpy's own bootstrap of the shifted differences
    d = a - b
    drawn = (d - d.mean())[rng.integers(0, 200, (20_000, 200))]
    null = drawn.mean(1) / drawn.std(1)
    assert result.pvalue == pytest.approx(
        (np.abs(null) >= abs(d.mean() / d.std())).mean(), abs=4 * np.sqrt(0.25 / 20_000)
    )
    t_test = stats.ttest_rel(a, b)
    assert result.pvalue == pytest.approx(t_test.pvalue, abs=0.03) and result.statistic == pytest.approx(
        t_test.statistic
    )


def test_differences_without_spread():
    assert bootstrap([0.9] * 6, [0.5] * 6).pvalue == 2 / 2**6
    assert bootstrap([0.5], [0.2]).pvalue == 1.0
    assert bootstrap([1.0, 0.2, 0.2], [0.2] * 3).pvalue > 0.2


#: One value per query of two equal systems: normal, with many ties, and one-sided as average precision is.
NULLS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: (rng.random(n) < 0.6) * (rng.beta(1, 2, n) - rng.beta(1, 2, n)),
}
MEANS = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, 0.95),
    "uniform": (lambda rng, n: rng.random(n), 0.5, 0.95),
    "beta": (lambda rng, n: rng.beta(0.5, 1, n), 1 / 3, 0.93),
    "zeros": (lambda rng, n: (rng.random(n) < 0.6) * rng.beta(1, 2, n), 0.2, 0.92),
}


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("null", NULLS)
def test_the_level_holds_for_few_queries(null, n):
    rng = np.random.default_rng(5)
    n_draws = 1_000
    p = [bootstrap(NULLS[null](rng, n), np.zeros(n), n_resamples=400).pvalue for _ in range(n_draws)]
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_draws)


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("values", MEANS)
def test_default_intervals_hold_the_mean_for_few_queries(values, n):
    rng = np.random.default_rng(9)
    draw, mean, least = MEANS[values]
    n_draws = 2_000
    intervals = np.array([confidence_interval(draw(rng, n)) for _ in range(n_draws)])
    held = np.mean((intervals[:, 0] <= mean) & (mean <= intervals[:, 1]))
    assert least - 3 * np.sqrt(0.05 * 0.95 / n_draws) < held < 0.95 + 4 * np.sqrt(0.05 * 0.95 / n_draws)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_are_scipys(method):
    rng = np.random.default_rng(6)
    x = rng.exponential(size=80)  # skewed: the two methods differ
    scipys = stats.bootstrap(
        (x,), np.mean, n_resamples=50_000, method=method, confidence_level=0.9, rng=rng, batch=2_000
    ).confidence_interval
    result = confidence_interval(x, level=0.9, method=method.lower(), n_resamples=50_000)
    np.testing.assert_allclose(result, scipys, atol=0.05 * x.std(ddof=1) / np.sqrt(80))


def test_student_interval_is_scipys():
    x = np.random.default_rng(0).random(25)
    scipys = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    np.testing.assert_allclose(confidence_interval(x, method="t"), scipys, rtol=1e-10)


def test_interval_of_a_difference_is_paired():
    rng = np.random.default_rng(1)
    a = rng.random(100)
    b = a + 0.1 + rng.normal(0, 0.001, 100)
    low, high = confidence_interval(a, b)
    assert -0.101 < low < -0.1 + 0.001 and high - low < 0.001


@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
def test_constant_sample(method):
    np.testing.assert_allclose(confidence_interval([0.3] * 7, method=method), [0.3, 0.3], rtol=1e-12)


@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
def test_coverage(method):
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(300):
        low, high = confidence_interval(rng.random(40), level=0.9, method=method, n_resamples=1_000)
        hits += low <= 0.5 <= high
    assert 0.9 - 5 * np.sqrt(0.09 / 300) < hits / 300 < 0.9 + 4 * np.sqrt(0.09 / 300)


def test_unknown_interval():
    with pytest.raises(ValueError, match="t, bca, percentile"):
        confidence_interval([1.0, 2.0], method="basic")
