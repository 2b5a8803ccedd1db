"""When more training queries stop helping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils

__all__ = ["Saturation", "fit_power_law", "saturation"]

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
        Whether the next step was expected to gain less than the tolerance; otherwise the data ended first.
    gain
        Expected gain of doubling the last size.
    """

    sizes: np.ndarray
    errors: np.ndarray
    a: float
    b: float
    c: float
    saturated: bool
    gain: float


@fulfils("scale.saturation")
def saturation(
    train: Callable[[int], float],
    n_queries: int,
    *,
    start: int = 16,
    growth: float = 2.0,
    tolerance: float = 0.002,
    patience: int = 2,
) -> Saturation:
    r"""Train on more and more queries, until the fitted curve says that more will not help.

    The error on held-out queries is measured at sizes that grow by a factor, so that all steps together cost at most
    growth/(growth − 1) times the last one. After three steps :math:`a + b\,n^{-c}` is fitted, and training stops when
    the next step is expected to gain less than the tolerance, several times in a row: three points are a weak basis.

    Parameters
    ----------
    train
        Function of the number of training queries that returns the error, such as 1 − nDCG@10 on held-out queries.
    n_queries
        How many there are.
    tolerance
        Smallest gain that is worth a step.
    patience
        How many times in a row the expected gain must be smaller.

    Examples
    --------
    >>> found = saturation(lambda n: 0.3 + n**-1.0, 10_000, tolerance=0.005)
    >>> found.saturated, found.sizes.tolist(), round(found.a, 2)
    (True, [16, 32, 64, 128, 256], 0.3)
    """
    if not (1 <= start <= n_queries) or not growth > 1:
        raise DataError(f"start must be between 1 and {n_queries} queries and growth above 1; got {start} and {growth}")
    sizes: list[int] = []
    errors: list[float] = []
    n, flat = start, 0
    while True:
        sizes.append(n)
        errors.append(float(train(n)))
        following = min(max(int(n * growth), n + 1), n_queries)
        if len(sizes) >= 3:
            a, b, c = fit_power_law(sizes, errors)
            flat = flat + 1 if b * (n**-c - (n * growth) ** -c) < tolerance else 0
            if flat >= patience:
                return Saturation(np.array(sizes), np.array(errors), a, b, c, True, b * (n**-c - (2 * n) ** -c))
        if n == n_queries:
            break
        n = following
    if len(sizes) < 3:
        raise DataError(f"{n_queries} queries give only {len(sizes)} steps from {start} on; lower start or growth")
    return Saturation(np.array(sizes), np.array(errors), a, b, c, False, b * (n**-c - (2 * n) ** -c))
