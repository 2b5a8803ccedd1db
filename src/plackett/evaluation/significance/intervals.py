"""Confidence intervals of a mean over queries and of the difference of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett.evaluation.significance.bootstrap import resampled_means
from plackett.evaluation.significance.paired import differences, rounding

__all__ = ["confidence_interval"]


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def confidence_interval(
    values: Any,
    other: Any = None,
    *,
    level: float = 0.95,
    method: str = "t",
    n_resamples: int = 10_000,
    random_state: int = 0,
) -> Interval:
    r"""Confidence interval of the mean over queries, or of the difference of two systems' means.

    Parameters
    ----------
    values
        One value per query; NaN (a query that the measure skipped) is left out.
    other
        A second system's values on the same queries: the interval is of mean(values) − mean(other).
    level
        Probability that such an interval contains the true mean.
    method
        One of `INTERVALS`: ``"t"``, mean ± t · s / √n; ``"bca"``, the bias-corrected and accelerated bootstrap (Efron
        1987); ``"percentile"``, the plain quantiles of the resampled means.
    n_resamples, random_state
        Samples of the bootstrap and their seed.

    Notes
    -----
    The bootstrap intervals are too short if queries are few: for ten normally distributed values, the 95 % intervals
    contain the mean in 90 % of the cases, those of ``"t"`` in 95 %; for one-sided values such as average precision with
    many zeros in 92 %. From about fifty queries on, the kinds hardly differ. One query has no interval (NaN).

    References
    ----------
    Student: The probable error of a mean. Biometrika 1908.
    Efron: Better bootstrap confidence intervals. Journal of the American Statistical Association 1987.

    Examples
    --------
    >>> low, high = confidence_interval([0.2, 0.4, 0.6, 0.8])
    >>> round(low, 3), round(high, 3)
    (0.089, 0.911)
    """
    values = np.asarray(values, dtype=np.float64)
    sample = differences(values, np.zeros_like(values) if other is None else other)
    means = np.empty(0) if method == "t" else resampled_means(sample, n_resamples, random_state=random_state)
    return interval(method)(sample, means, level)


def interval(method: str) -> Callable[[np.ndarray, np.ndarray, float], Interval]:
    """The function for a kind of interval; an error if unknown."""
    if method not in INTERVALS:
        raise ValueError(f"interval {method!r} is unknown; give one of {', '.join(INTERVALS)}")
    return INTERVALS[method]


def bca(sample: np.ndarray, means: np.ndarray, level: float) -> Interval:
    """Quantiles of the resampled means, moved by their bias and by the skewness of the sample."""
    from scipy.special import ndtr, ndtri

    centred = sample - sample.mean()
    squares = float(centred @ centred)
    if squares <= (rounding(sample) / sample.size) ** 2:
        return Interval(float(sample.mean()), float(sample.mean()))
    below_mean = np.count_nonzero(means < sample.mean()) + np.count_nonzero(means == sample.mean()) / 2
    bias = ndtri(min(max(below_mean, 0.5), means.size - 0.5) / means.size)
    acceleration = float((centred**3).sum()) / (6 * squares**1.5)
    z = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    return Interval(*np.quantile(means, ndtr(bias + z / (1 - acceleration * z))).tolist())


def percentile(sample: np.ndarray, means: np.ndarray, level: float) -> Interval:
    """Quantiles of the resampled means."""
    return Interval(*np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist())


def student_interval(sample: np.ndarray, means: np.ndarray, level: float) -> Interval:
    """Mean ± t · s / √n."""
    from scipy.special import stdtrit

    if sample.size < 2:
        return Interval(float("nan"), float("nan"))
    half = stdtrit(sample.size - 1, (1 + level) / 2) * sample.std(ddof=1) / np.sqrt(sample.size)
    return Interval(float(sample.mean() - half), float(sample.mean() + half))


#: Kinds of intervals: functions of the sample, its resampled means and the level.
INTERVALS: dict[str, Callable[[np.ndarray, np.ndarray, float], Interval]] = {
    "t": student_interval,
    "bca": bca,
    "percentile": percentile,
}
