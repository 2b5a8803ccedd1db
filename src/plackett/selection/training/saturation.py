"""When more training queries stop helping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError

__all__ = ["saturation"]

#: Exponents that are tried.
_POWERS = np.arange(0.05, 3.001, 0.05)


def fit_power_law(sizes: Any, errors: Any) -> tuple[float, float, float]:
    """Least-squares fit of err(n) = a + b n^-c with a, b ≥ 0; returns a, b, c.

    >>> n = np.array([10.0, 20, 40, 80, 160])
    >>> [round(float(x), 2) for x in fit_power_law(n, 0.2 + 1.5 * n**-0.5)]
    [0.2, 1.5, 0.5]
    """
    n, err = np.asarray(sizes, np.float64), np.asarray(errors, np.float64)
    if n.shape != err.shape or n.size < 3 or (n <= 0).any():
        raise DataError("three or more positive sizes with an error each are needed")
    from scipy.optimize import nnls

    def at(c: float) -> tuple[float, np.ndarray]:
        scale = n.min() ** c
        solution, rest = nnls(np.column_stack((np.ones(n.size), scale * n**-c)), err)
        return float(rest), np.array([solution[0], solution[1] * scale])

    best = min(_POWERS, key=lambda c: at(c)[0])
    fine = np.linspace(max(best - 0.05, 0.01), best + 0.05, 41)
    c = float(min(fine, key=lambda c: at(c)[0]))
    a, b = at(c)[1]
    return float(a), float(b), c


def gain_interval(
    sizes: Any, errors: Any, growth: float = 2.0, *, confidence: float = 0.95
) -> tuple[float, float, float]:
    r"""Gain that is expected of ``growth`` times the last size: by the fitted curve, and the ends of its interval.

    The gain :math:`b\,n^{-c}(1 - g^{-c})` of the curve :math:`a + b\,n^{-c}` has the interval of all values that some
    a, b ≥ 0 and c reach whose sum of squares is at most :math:`S_{\min} (1 + t^2 / (k - 3))`, with t the quantile of
    Student's distribution with k − 3 degrees of freedom for k sizes, the profile likelihood of the gain. Each end is
    exceeded with a probability of 1 − ``confidence``. Three sizes fit any curve: their interval is from 0 to infinity.

    >>> n = 2.0 ** np.arange(3, 9)
    >>> [round(x, 4) for x in gain_interval(n, 0.2 + n**-0.5)]
    [0.0183, 0.0183, 0.0183]
    >>> low, high = gain_interval(n, 0.2 + n**-0.5 + 0.01 * np.cos(9 * n))[1:]
    >>> low < 0.0183 < high
    True
    """
    from scipy.stats import t

    n, err = np.asarray(sizes, np.float64), np.asarray(errors, np.float64)
    a, b, c = fit_power_law(n, err)
    size = n[-1]
    gain = float(b * (size**-c - (size * growth) ** -c))
    free = n.size - 3
    if free < 1:
        return gain, 0.0, np.inf
    # the gains of curves with each exponent: for one exponent the sum of squares is a parabola of b
    powers = np.append(_POWERS, c)
    z = (n[:, None] / size) ** -powers  # b counts at the last size
    mean, level = z.mean(axis=0), err.mean()
    away, rest = z - mean, err - level
    square = np.maximum((away**2).sum(axis=0), 1e-300)
    slope = away.T @ rest / square
    least = np.maximum((rest**2).sum() - slope**2 * square, 0.0)
    fitted = float(np.sum((err - a - b * n**-c) ** 2))
    limit = fitted * (1.0 + t.ppf(confidence, free) ** 2 / free) + 1e-18
    possible = least <= limit
    wide = np.sqrt(np.maximum(limit - least, 0.0) / square)
    drop = 1.0 - growth**-powers
    highest = level / np.maximum(mean, 1e-300)  # a ≥ 0
    high = np.clip(np.minimum(slope + wide, highest), 0.0, None) * drop
    low = np.clip(slope - wide, 0.0, None) * drop
    high, low = high[possible], low[possible]
    return gain, min(float(low.min(initial=gain)), gain), max(float(high.max(initial=gain)), gain)


@dataclass(frozen=True, eq=False)
class Saturation:
    """Result of `saturation`.

    Attributes
    ----------
    sizes, errors
        Training queries and error at each step.
    a, b, c
        The curve a + b n^-c.
    saturated
        Whether the next step would, with enough confidence, gain less than the tolerance; otherwise the data ended
        first.
    gain, gain_low, gain_high
        Expected gain of doubling the last size, and the ends of its interval.
    """

    sizes: np.ndarray
    errors: np.ndarray
    a: float
    b: float
    c: float
    saturated: bool
    gain: float
    gain_low: float
    gain_high: float


def saturation(
    train: Callable[[int], float],
    n_queries: int,
    *,
    start: int = 16,
    growth: float = 2.0,
    tolerance: float = 0.002,
    confidence: float = 0.95,
    patience: int = 1,
) -> Saturation:
    r"""Train on more and more queries, until it is clear that more will not help.

    The error on held-out queries is measured at sizes that grow by a factor, so that all steps together cost at most
    growth/(growth − 1) times the last one. From the fourth step on :math:`a + b\,n^{-c}` is fitted, and training stops
    when the upper end of the interval of the next step's gain (`gain_interval`) is below the tolerance. A noisy curve
    has a wide interval, and training continues: equal last points do not show that the curve is flat. If the errors
    vary by more than the tolerance, no number of steps shows it; then average several draws of the queries in
    ``train``.

    Parameters
    ----------
    train
        Function of the number of training queries that returns the error, such as 1 − nDCG@10 on held-out queries.
    n_queries
        Number of queries available.
    start, growth
        The first size, and the factor between two sizes.
    tolerance
        Smallest gain that is worth a step.
    confidence
        Probability that the gain is below the upper end, above ½ and below 1.
    patience
        How many times in a row the upper end must be below the tolerance.

    Examples
    --------
    >>> curve = saturation(lambda n: 0.3 + n**-1.0, 10_000, tolerance=0.005)
    >>> curve.saturated, curve.sizes.tolist(), round(curve.a, 2)
    (True, [16, 32, 64, 128], 0.3)
    """
    if not (1 <= start <= n_queries) or not growth > 1:
        raise DataError(f"start must be between 1 and {n_queries} queries and growth above 1; got {start} and {growth}")
    if not 0.5 < confidence < 1.0 or not tolerance > 0 or patience < 1:
        raise DataError(
            f"confidence={confidence!r}, tolerance={tolerance!r}, patience={patience!r}; give a probability above 0.5 "
            "and below 1, a positive number, and 1 or more"
        )
    sizes: list[int] = []
    errors: list[float] = []
    n, flat = start, 0
    while True:
        sizes.append(n)
        errors.append(float(train(n)))
        if not np.isfinite(errors[-1]):
            raise DataError(f"the error with {n} queries is {errors[-1]}; it must be a finite number")
        if len(sizes) >= 4:
            flat = flat + 1 if gain_interval(sizes, errors, growth, confidence=confidence)[2] < tolerance else 0
        if flat >= patience or n == n_queries:
            break
        n = min(max(int(n * growth), n + 1), n_queries)
    if len(sizes) < 3:
        raise DataError(f"{n_queries} queries give only {len(sizes)} steps from {start} on; lower start or growth")
    doubled = gain_interval(sizes, errors, confidence=confidence)
    return Saturation(np.array(sizes), np.array(errors), *fit_power_law(sizes, errors), flat >= patience, *doubled)
