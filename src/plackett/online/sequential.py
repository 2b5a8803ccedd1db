"""Tests that may be looked at every day: p-values and intervals that hold at all times at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError

__all__ = ["mean_sequence", "sign_sequence"]

#: Observations per unit of kurtosis from which a mean is close enough to normal: so many carry the variance.
_PER_KURTOSIS = 60


@dataclass(frozen=True, eq=False)
class Sequential:
    """An estimate with its always-valid p-value and interval.

    Attributes
    ----------
    estimate
        The mean, or the share of wins minus that of losses.
    lower, upper
        Bounds of the confidence sequence: with probability 1 − alpha they hold at all times.
    p
        Always-valid p-value of "no difference".
    holds_from
        Number of observations from which this can be said. Before it, p is 1 and the bounds are infinite.
    """

    estimate: Any
    lower: Any
    upper: Any
    p: Any
    holds_from: Any = 0

    def running(self) -> Sequential:
        """The intersection of all intervals so far, for arrays in order of time: never wider than an earlier one."""
        lower, upper = np.maximum.accumulate(self.lower), np.minimum.accumulate(self.upper)
        return Sequential(self.estimate, lower, upper, np.minimum.accumulate(self.p), self.holds_from)


def sign_sequence(wins: Any, losses: Any, *, alpha: float = 0.05, prior: float = 10.0) -> Sequential:
    """Always-valid test of wins against losses: exact for any number of looks.

    Under "both win equally often" the ratio of the likelihood under p ~ Beta(prior, prior) to that under p = 1/2,

        Λ = 2^n B(prior + wins, prior + losses) / B(prior, prior),

    is a martingale that starts at 1, so the probability that it ever reaches 1/alpha is at most alpha (Ville). The
    p-value is 1/Λ, the interval contains those p that are not rejected, given as 2p − 1. Ties are left out.

    Parameters
    ----------
    wins, losses
        Counts so far; arrays for several times or rankers.
    prior
        The larger, the sooner small differences are detected, and the later large ones.

    References
    ----------
    Robbins: Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics 1970.
    Howard, Ramdas, McAuliffe, Sekhon: Time-uniform, nonparametric, nonasymptotic confidence sequences. Annals of
    Statistics 2021.

    Examples
    --------
    >>> result = sign_sequence(70, 30)
    >>> round(float(result.p), 4), round(float(result.lower), 2), round(float(result.upper), 2)
    (0.0026, 0.08, 0.66)
    """
    from scipy.special import xlogy

    won, lost = np.asarray(wins, np.float64), np.asarray(losses, np.float64)
    if np.any(won < 0) or np.any(lost < 0):
        raise DataError("wins and losses are counts: they must not be negative")
    _check(alpha)
    mixture, n = _mixture(won, lost, prior), won + lost

    def inside(share: np.ndarray) -> np.ndarray:
        return mixture - xlogy(won, share) - xlogy(lost, 1 - share) < -np.log(alpha)

    best = np.where(n > 0, won / np.maximum(n, 1), 0.5)
    low, high = np.zeros_like(best), best.copy()
    low2, high2 = best.copy(), np.ones_like(best)
    with np.errstate(divide="ignore"):
        for _ in range(50):  # the ratio falls towards the share of wins from both sides
            middle, middle2 = (low + high) / 2, (low2 + high2) / 2
            ok, ok2 = inside(middle), inside(middle2)
            low, high = np.where(ok, low, middle), np.where(ok, middle, high)
            low2, high2 = np.where(ok2, middle2, low2), np.where(ok2, high2, middle2)
    return Sequential(2 * best - 1, 2 * low - 1, 2 * high2 - 1, sign_p(won, lost, prior=prior))


def sign_p(wins: Any, losses: Any, *, prior: float = 10.0) -> Any:
    """Always-valid p-value of `sign_sequence` alone, for many counts."""
    won, lost = np.asarray(wins, np.float64), np.asarray(losses, np.float64)
    return np.exp(-np.maximum(_mixture(won, lost, prior) + (won + lost) * np.log(2), 0.0))


def _mixture(won: np.ndarray, lost: np.ndarray, prior: float) -> np.ndarray:
    from scipy.special import betaln

    return betaln(prior + won, prior + lost) - betaln(prior, prior)


def mean_sequence(
    mean: Any,
    variance: Any,
    n: Any,
    *,
    kurtosis: Any,
    alpha: float = 0.05,
    best_at: float = 1000.0,
    least: int = 30,
) -> Sequential:
    """Always-valid test and interval for a mean (mixture sequential probability ratio test).

    With v = variance / n and the mixture N(0, τ²) over the true mean,

        Λ = √(v / (v + τ²)) · exp(mean² τ² / (2 v (v + τ²))),   p = min(1, 1/Λ).

    The errors hold for many observations, not exactly, and the fewer of them carry the variance, the more it takes:
    revenue with rare large orders would be "significant" in every fifth experiment without a difference. So nothing is
    rejected and the interval is infinite before ``least`` observations, before 60 times their kurtosis (in simulations
    with log-normal, Pareto and rare values, 5 % are at most 4 % then), and as long as all of them are equal.
    `Sequential.holds_from` says how many it takes if the rest are like those so far.

    Parameters
    ----------
    mean, variance
        Of the observations so far; arrays for several times.
    n
        Number of observations. For the difference of two groups see `ab_test`.
    kurtosis
        Mean of the fourth powers of the observations, divided by the square of the mean of their squares: 3 if they are
        normal around 0, 1 for wins and losses, large if few carry the variance. 0 does not check.
    best_at
        Number of observations at which the interval is narrowest compared with others; choose the expected length of
        the experiment before it begins.

    References
    ----------
    Johari, Koomen, Pekelis, Walsh: Peeking at A/B tests: why it matters, and what to do about it. KDD 2017.
    Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas. 2024.

    Examples
    --------
    >>> result = mean_sequence(0.1, 1.0, 2000, kurtosis=3.0)
    >>> round(float(result.p), 4), round(float(result.lower), 3), round(float(result.upper), 3)
    (0.0003, 0.031, 0.169)
    >>> revenue = mean_sequence(0.1, 1.0, 2000, kurtosis=100.0)
    >>> float(revenue.p), float(revenue.holds_from)
    (1.0, 6000.0)
    """
    _check(alpha)
    mean, variance, n, kurtosis = (np.asarray(each, np.float64) for each in (mean, variance, n, kurtosis))
    if np.any(variance < -1e-6 * mean**2) or not best_at > 0:  # rounding may leave a little below 0
        raise DataError("the variance must not be negative, and best_at must be positive")
    v = np.maximum(variance, 1e-300) / np.maximum(n, 1)
    ratio = _ratio(alpha) * n / best_at  # τ² / v
    log_ratio = -0.5 * np.log1p(ratio) + mean**2 / v * ratio / (1 + ratio) / 2
    holds_from = np.ceil(np.maximum(least, _PER_KURTOSIS * kurtosis))
    early = ~(n >= holds_from) | (variance <= 1e-12 * mean**2)
    p = np.where(early, 1.0, np.exp(-np.maximum(log_ratio, 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.sqrt(2 * v * (1 + ratio) / ratio * (-np.log(alpha) + 0.5 * np.log1p(ratio)))
    half = np.where(early, np.inf, half)
    return Sequential(mean, mean - half, mean + half, p, holds_from)


def _ratio(alpha: float) -> float:
    """The τ² / v that makes the interval narrowest: the x with x = 2 log(1/alpha) + log(1 + x)."""
    x = 8.0
    for _ in range(50):
        x = -2 * np.log(alpha) + np.log1p(x)
    return float(x)


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise DataError(f"alpha={alpha}; give an error rate between 0 and 1, such as 0.05")
