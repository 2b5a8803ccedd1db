"""A/B tests by user, with variance reduced by what was known of the users before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.online.sequential import mean_sequence

__all__ = ["ab_test"]

#: Users that the smaller group needs before the always-valid test rejects anything.
_LEAST = 15
#: Users, in squares of their skewness, from which the difference of two means is close enough to normal.
_PER_SKEWNESS = 100


@dataclass(frozen=True)
class ABTest:
    """Result of `ab_test`.

    Attributes
    ----------
    difference
        Mean of B minus mean of A.
    standard_error
        Of the difference.
    p
        p-value for a single look, at an end that was fixed in advance.
    p_any_time, lower, upper
        For looks at any time: always-valid p-value and confidence sequence. Nothing is rejected, and the interval is
        infinite, before there are ``holds_from`` users.
    variance_removed
        Share of the variance removed by the values from before the experiment.
    n
        Users in A and B.
    holds_from
        Users in both groups from which the always-valid test holds, if the rest are like those so far: 15 in the
        smaller group, and 100 times the square of the skewness of the difference of means, for one user. Skewed values
        such as revenue take many users if one group is small, and few if both are of the same size, as their skewness
        then cancels out.
    """

    difference: float
    standard_error: float
    p: float
    p_any_time: float
    lower: float
    upper: float
    variance_removed: float
    n: tuple[int, int]
    holds_from: int


def ab_test(
    a: Any, b: Any, *, before_a: Any = None, before_b: Any = None, alpha: float = 0.05, best_at: float = 1000.0
) -> ABTest:
    """Compare two groups of users.

    Parameters
    ----------
    a, b
        One value per user, such as clicks per page. Sum up pages by user first: pages of a user are not independent.
    before_a, before_b
        A value for each of these users from before the experiment (the same measure is best). CUPED then compares
        ``value − θ (before − mean before)`` with θ = cov(before, value) / var(before), pooled: the difference keeps
        its expectation, and its variance falls by the squared correlation. What the experiment could change must not
        be used here.
    best_at
        Users in both groups at which the always-valid interval is narrowest.

    References
    ----------
    Deng, Xu, Kohavi, Walker: Improving the sensitivity of online controlled experiments by utilizing pre-experiment
    data. WSDM 2013 (CUPED).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> before = rng.normal(size=(2, 2000))
    >>> after = before + rng.normal(scale=0.5, size=before.shape) + [[0.0], [0.1]]
    >>> plain, less = ab_test(*after), ab_test(*after, before_a=before[0], before_b=before[1])
    >>> round(plain.standard_error, 3), round(less.standard_error, 3), less.variance_removed > 0.7
    (0.035, 0.016, True)
    """
    from scipy.stats import t

    a, b = _values(a, "a"), _values(b, "b")
    if (before_a is None) != (before_b is None):
        raise DataError("give before_a and before_b, or neither")
    removed = 0.0
    if before_a is not None:
        x, y = _values(before_a, "before_a", a.size), _values(before_b, "before_b", b.size)
        plain = a.var(ddof=1) / a.size + b.var(ddof=1) / b.size
        spread = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
        together = ((x - x.mean()) * (a - a.mean())).sum() + ((y - y.mean()) * (b - b.mean())).sum()
        theta = together / spread if spread > 0 else 0.0
        centre = (x.sum() + y.sum()) / (x.size + y.size)
        a, b = a - theta * (x - centre), b - theta * (y - centre)
        removed = float(1 - (a.var(ddof=1) / a.size + b.var(ddof=1) / b.size) / plain) if plain > 0 else 0.0
    parts = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
    v = sum(parts)
    difference, n = float(b.mean() - a.mean()), a.size + b.size
    degrees = v**2 / (parts[0] ** 2 / (a.size - 1) + parts[1] ** 2 / (b.size - 1)) if v > 0 else n - 2
    p = float(2 * t.sf(abs(difference) / np.sqrt(v), degrees)) if v > 0 else float(difference == 0)
    least = max(_LEAST / min(a.size, b.size), _PER_SKEWNESS * _skewness(a, b) ** 2) * n
    always = mean_sequence(
        difference, v * n, n, kurtosis=0.0, alpha=alpha, best_at=best_at, least=int(np.ceil(round(least, 6)))
    )
    return ABTest(
        difference, float(np.sqrt(v)), p, float(always.p), float(always.lower), float(always.upper), removed,
        (a.size, b.size), int(always.holds_from),
    )  # fmt: skip


def _skewness(a: np.ndarray, b: np.ndarray) -> float:
    """Skewness of the difference of means: that of the groups, or, if larger, that of two groups alike.

    A small group seldom has its share of large values; their common shape is known better than that of either.
    """
    n = np.array([-a.size, b.size], np.float64)  # A is subtracted
    moments = np.array([[np.mean((each - each.mean()) ** power) for each in (a, b)] for power in (2, 3)])
    alike = moments @ np.abs(n) / np.abs(n).sum()
    found = []
    for second, third in (moments, alike[:, None]):
        variance = (second / np.abs(n)).sum()
        found.append(abs((third / (n * np.abs(n))).sum()) / variance**1.5 if variance > 0 else 0.0)
    return float(max(found))


def _values(values: Any, name: str, size: int | None = None) -> np.ndarray:
    per_user = np.asarray(values, np.float64).ravel()
    if size is not None and per_user.size != size:
        raise DataError(f"{name} has {per_user.size} values, the group has {size} users")
    if per_user.size < 2:
        raise DataError(f"{name}: at least two users are needed, {per_user.size} given")
    if not np.isfinite(per_user).all():
        raise DataError(f"{name}[{int(np.argmin(np.isfinite(per_user)))}] is missing or infinite")
    return per_user
