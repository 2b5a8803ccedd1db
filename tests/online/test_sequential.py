"""Error rates of the sequential tests, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from plackett._base.errors import DataError
from plackett.online.ab_test import ab_test
from plackett.online.power import power, sample_size
from plackett.online.sequential import mean_sequence, sign_p, sign_sequence


def walks(share, runs=2000, n=1500, seed=0):
    return np.cumsum(np.random.default_rng(seed).random((runs, n)) < share, axis=1)


def test_sign_test_keeps_its_level_when_looked_at_all_the_time():
    wins = walks(0.5)
    n = np.arange(1, wins.shape[1] + 1)
    ever = (sign_p(wins[:, ::3], (n - wins)[:, ::3]) <= 0.05).any(axis=1).mean()
    assert 0.005 < ever <= 0.05
    z = np.abs(2 * wins - n)[:, 29:] / np.sqrt(n[29:])
    assert (z > 1.96).any(axis=1).mean() > 0.3  # what daily looks do to an ordinary test


def test_sign_test_has_power_and_its_interval_holds_at_all_times():
    wins = walks(0.6, runs=300, n=1000, seed=1)
    n = np.arange(1, 1001)
    result = sign_sequence(wins[:, ::20], (n - wins)[:, ::20])
    assert (result.p[:, -1] <= 0.05).mean() > 0.95
    inside = ((result.lower <= 0.2) & (result.upper >= 0.2)).all(axis=1)
    assert inside.mean() >= 0.95
    last = sign_sequence(wins[0], n - wins[0]).running()
    assert np.all(np.diff(last.lower) >= 0) and np.all(np.diff(last.upper) <= 0)


def test_p_value_and_interval_agree():
    for wins, losses in [(0, 0), (3, 0), (40, 20), (20, 40), (500, 450), (70, 30)]:
        result = sign_sequence(wins, losses, alpha=0.05)
        assert (result.p <= 0.05) == (result.lower > 0 or result.upper < 0)
        mean = mean_sequence(wins / 100, 1.0, 400, kurtosis=1.0)
        assert (mean.p <= 0.05) == (mean.lower > 0)


#: Values that are hard for a test of means, with mean 0.
SKEWED = {
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
    "log-normal": lambda rng, size: rng.lognormal(size=size) - np.exp(0.5),
    "wide log-normal": lambda rng, size: rng.lognormal(sigma=2.0, size=size) - np.exp(2.0),
    "rare orders": lambda rng, size: (rng.random(size) < 0.05) * rng.lognormal(size=size) - 0.05 * np.exp(0.5),
    "rare": lambda rng, size: (rng.random(size) < 0.02) - 0.02,
    "Pareto": lambda rng, size: rng.pareto(2.5, size=size) - 1 / 1.5,
}


@pytest.mark.parametrize("name", SKEWED)
def test_mean_test_keeps_its_level_for_skewed_values(name):
    x = SKEWED[name](np.random.default_rng(2), (500, 4000))
    n = np.arange(1, 4001)[19::10]
    sums = [np.cumsum(x**power, axis=1)[:, n - 1] for power in (1, 2, 4)]
    variance = np.maximum(sums[1] - sums[0] ** 2 / n, 0) / (n - 1)
    result = mean_sequence(sums[0] / n, variance, n, kurtosis=sums[2] * n / sums[1] ** 2)
    assert (result.p <= 0.05).any(axis=1).mean() <= 0.065  # 0.05 and 1.5 standard errors
    covered = ((result.lower <= 0) & (result.upper >= 0)).all(axis=1)
    assert covered.mean() >= 0.935
    shifted = mean_sequence(sums[0] / n + x.std() / 5, variance, n, kurtosis=3.0)
    assert (shifted.p <= 0.05).any(axis=1).mean() > 0.99


@pytest.mark.parametrize(("name", "share"), [("log-normal", 0.1), ("rare orders", 0.1), ("rare", 0.02), ("rare", 0.5)])
def test_ab_test_keeps_its_level_for_unequal_groups_and_skewed_values(name, share):
    rng = np.random.default_rng(3)
    looks = np.unique(np.geomspace(60, 3000, 20).astype(int))
    wrong = 0
    for _ in range(150):
        x, in_b = SKEWED[name](rng, 3000), rng.random(3000) < share
        in_b[:2], in_b[2:4] = False, True
        wrong += any(ab_test(x[:n][~in_b[:n]], x[:n][in_b[:n]]).p_any_time <= 0.05 for n in looks)
    assert wrong <= 13  # 7.5 and two standard errors


def test_ab_test_says_from_how_many_users_it_holds():
    rng = np.random.default_rng(4)
    a, b = rng.lognormal(size=9000), rng.lognormal(size=1000) * 3
    result = ab_test(a, b)
    assert result.holds_from > 10_000 and result.p_any_time == 1.0 and np.isinf(result.upper) and result.p < 1e-9
    more = ab_test(np.tile(a, 20), np.tile(b, 20))  # the same shape
    assert more.holds_from == pytest.approx(result.holds_from, rel=0.01) and more.p_any_time < 1e-9
    equal = ab_test(rng.lognormal(size=500), rng.lognormal(size=500) * 2)
    assert equal.holds_from <= 1000 and equal.p_any_time < 0.01  # skewness cancels out
    assert ab_test(np.linspace(-1, 1, 15), np.linspace(-1, 1, 60)).holds_from == 75
    assert ab_test([1.0, 1.0], [2.0, 2.0]).p_any_time == 1.0


def test_cuped_keeps_level_and_expectation_with_less_variance():
    rng = np.random.default_rng(3)
    less, estimates = [], []
    for _ in range(300):
        before = rng.normal(size=(2, 100))
        after = before + rng.normal(size=before.shape)
        result = ab_test(*after, before_a=before[0], before_b=before[1])
        less.append(result.p)
        estimates.append(result.difference)
    assert 0.02 < np.mean(np.array(less) <= 0.05) < 0.085
    assert abs(np.mean(estimates)) < 3 * np.std(estimates) / np.sqrt(300)
    assert result.variance_removed == pytest.approx(0.5, abs=0.15)


def test_planned_power_is_the_power_seen():
    rng = np.random.default_rng(4)
    n = sample_size(0.2, power=0.8)
    assert n == pytest.approx((1.96 + 0.8416) ** 2 / 0.04, abs=2)
    z = rng.normal(0.2, 1, (4000, n)).mean(axis=1) * np.sqrt(n)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.8, abs=0.03)
    longer = sample_size(0.2, power=0.8, any_time=True)
    means = np.cumsum(rng.normal(0.2, 1, (1000, longer)), axis=1) / np.arange(1, longer + 1)
    p = mean_sequence(means, 1.0, np.arange(1, longer + 1), best_at=longer, kurtosis=3.0).p
    assert np.mean(p[:, -1] <= 0.05) == pytest.approx(0.8, abs=0.05)
    assert np.mean((p <= 0.05).any(axis=1)) > 0.8
    assert power(0.2, 4 * n, groups=2) == pytest.approx(power(0.2, n))


def test_wrong_input_is_named():
    with pytest.raises(DataError, match="alpha"):
        sign_sequence(1, 1, alpha=0)
    with pytest.raises(DataError, match="before_a has 1 values"):
        ab_test([1, 2], [1, 2], before_a=[1], before_b=[1, 2])
    with pytest.raises(DataError, match="neither"):
        ab_test([1, 2], [1, 2], before_a=[1, 2])
    with pytest.raises(DataError, match=r"b\[1\]"):
        ab_test([1, 2], [1, np.nan])
    with pytest.raises(DataError, match="effect"):
        sample_size(0)


def test_the_interval_of_rare_credit_covers_from_the_first_look():
    rng = np.random.default_rng(5)
    credit = (rng.random((400, 600)) < 0.02) * np.where(rng.random((400, 600)) < 0.9, 1.0, -1.0)
    n = np.broadcast_to(np.arange(1, 601), credit.shape)
    mean = credit.cumsum(axis=1) / n
    variance = ((credit**2).cumsum(axis=1) - n * mean**2) / np.maximum(n - 1, 1)
    squares = np.maximum((credit**2).cumsum(axis=1), 1e-100)
    result = mean_sequence(mean, variance, n, kurtosis=(credit**4).cumsum(axis=1) * n / squares**2)
    missed = (result.lower > 0.016) | (result.upper < 0.016)
    assert missed.any(axis=1).mean() < 0.06  # 0.56 if pages without clicks made an interval of width 0
    assert np.isinf(mean_sequence(0.0, 0.0, 100, kurtosis=0.0).upper)
    assert mean_sequence(0.5, 0.0, 100, kurtosis=1.0).p == 1.0  # the rare ones may be yet to come


def test_an_ab_test_with_a_small_group_is_not_decided_by_its_first_users():
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(100):
        a, b = rng.normal(size=20), rng.normal(size=2000)
        wrong += any(ab_test(a[:i], b[: 100 * i]).p_any_time <= 0.05 for i in (2, 3, 4, 6, 10, 15, 20))
    assert wrong <= 5
    assert ab_test(rng.normal(size=15), rng.normal(size=15) + 9).p_any_time < 0.05


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_sequence(0.1, -1.0, 100, kurtosis=3.0),
        lambda: mean_sequence(0.1, 1.0, 100, kurtosis=3.0, best_at=0),
        lambda: sample_size(float("nan")),
        lambda: sample_size(1e-200),
        lambda: sample_size(0.1, alpha=0.0),
        lambda: power(0.1, 100, alpha=1.5),
        lambda: power(0.1, 100, deviation=float("nan")),
    ],
)
def test_numbers_that_mean_nothing_are_refused(call):
    with pytest.raises(DataError):
        call()
