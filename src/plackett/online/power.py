"""How much traffic a comparison needs."""

from __future__ import annotations

import math

from plackett._base.errors import DataError
from plackett.online.sequential import mean_sequence

__all__ = ["power", "sample_size"]


def power(
    effect: float, n: float, *, deviation: float = 1.0, groups: int = 1, alpha: float = 0.05, any_time: bool = False
) -> float:
    """Probability of detecting a true effect with n observations.

    Parameters
    ----------
    effect
        True mean, or true difference of two groups.
    n
        Total number of observations: pages with a preference for interleaving, users for an A/B test.
    deviation
        Standard deviation of one observation; about 1 for wins and losses (±1).
    groups
        1 for interleaving (each page compares both rankers), 2 for an A/B test with equal groups.
    any_time
        For the always-valid test, tuned to n (`mean_sequence`): the power at n, which is a lower bound, since the test
        may also stop before.

    Examples
    --------
    >>> round(power(0.1, 785), 3)
    0.8
    >>> round(power(0.1, 4 * 785, groups=2), 3)
    0.8
    """
    if not (n > 0 and 0 < deviation < math.inf and math.isfinite(effect) and groups in (1, 2) and 0 < alpha < 1):
        raise DataError(
            f"effect={effect}, n={n}, deviation={deviation}, groups={groups}, alpha={alpha}: effect is a number, n and "
            "deviation are positive, groups 1 or 2, alpha is between 0 and 1"
        )
    error = deviation * groups / math.sqrt(n)  # two groups of n / 2: 2 deviation / √n
    if any_time:
        limit = float(mean_sequence(0.0, error**2 * n, n, alpha=alpha, best_at=n, kurtosis=0.0, least=0).upper) / error
    else:
        limit = -_normal_quantile(alpha / 2)
    shift = abs(effect) / error
    return _normal(shift - limit) + _normal(-shift - limit)


def sample_size(
    effect: float,
    *,
    deviation: float = 1.0,
    groups: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    any_time: bool = False,
) -> int:
    """Observations needed to detect an effect with some power; the parameters are those of `power`.

    Examples
    --------
    >>> sample_size(0.1), sample_size(0.1, groups=2), sample_size(0.1, any_time=True)
    (785, 3140, 1503)
    """
    if not abs(effect) > 1e-100 * abs(deviation) or not alpha < power < 1:
        raise DataError(f"effect={effect}, power={power}: give an effect other than 0, and alpha < power < 1")
    least, most = 1, 2
    while _power(effect, most, deviation=deviation, groups=groups, alpha=alpha, any_time=any_time) < power:
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        enough = _power(effect, middle, deviation=deviation, groups=groups, alpha=alpha, any_time=any_time) >= power
        least, most = (least, middle) if enough else (middle, most)
    return most


_power = power


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _normal_quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)
