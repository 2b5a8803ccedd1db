"""Shared by the paired tests: their input, the direction of the alternative, their result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError

#: Sign that makes large values support the alternative; 0 means both directions.
ALTERNATIVES = {"two-sided": 0, "greater": 1, "less": -1}


class PairedTest(NamedTuple):
    """Result of a paired test.

    ``difference`` is mean(a) − mean(b), ``statistic`` the test statistic, ``pvalue`` the probability of a difference
    at least as large if the two systems were the same, ``n`` the number of queries used.
    """

    difference: float
    statistic: float
    pvalue: float
    n: int


def differences(a: Any, b: Any) -> np.ndarray:
    """Difference a − b on the queries on which both have a value; NaN (a query that the measure skipped) is left out.

    >>> differences([1.0, 0.5, float("nan")], [0.5, 0.5, 1.0]).tolist()
    [0.5, 0.0]
    """
    a, b = _column(a, "a"), _column(b, "b")
    if a.size != b.size:
        raise DataError(f"a has {a.size} values and b {b.size}; give one value per query for both, in one order")
    differences = a - b
    differences = differences[~np.isnan(differences)]
    if not differences.size:
        raise DataError("no query has a value in both a and b")
    return differences


def matrix(values: Any) -> np.ndarray:
    """Queries × systems, the queries on which every system has a value."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise DataError(f"values must be a matrix queries × systems of two systems or more, got shape {values.shape}")
    _finite(values, "values")
    values = values[~np.isnan(values).any(axis=1)]
    if not len(values):
        raise DataError("no query has a value for every system")
    return np.ascontiguousarray(values)


def direction(alternative: str) -> int:
    """The sign of an alternative; an error if unknown."""
    choice("alternative", alternative, ALTERNATIVES, error=ValueError)
    return ALTERNATIVES[alternative]


def check_draws(number: int, name: str) -> None:
    """Check that the number of random draws is a whole number of 1 or more."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise ValueError(f"{name}={number!r}; give a whole number of 1 or more")


def p_value(sums: np.ndarray, observed: float, alternative: str, tolerance: float, *, exact: bool) -> float:
    """Share of the sums under the null hypothesis that are at least as extreme as the observed one.

    For drawn sums the observed one counts as one more draw, (c + 1) / (B + 1), so that p is never 0 and the test keeps
    its level (Phipson and Smyth 2010). Sums within ``tolerance``, which differ only by rounding, count as equal.
    """
    sign = direction(alternative)
    if sign:
        extreme = np.count_nonzero(sign * sums >= sign * observed - tolerance)
    else:
        extreme = np.count_nonzero(np.abs(sums) >= abs(observed) - tolerance)
    return float(extreme / sums.size if exact else (extreme + 1) / (sums.size + 1))


def rounding(values: np.ndarray) -> float:
    """Upper bound of the rounding error in a sum of these values."""
    return float(max(1e-12, values.size * np.finfo(float).eps) * np.abs(values).sum())


def _column(values: Any, name: str) -> np.ndarray:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise DataError(f"{name} must be one value per query, got shape {column.shape}")
    _finite(column, name)
    return column


def _finite(values: np.ndarray, name: str) -> None:
    if np.isinf(values).any():
        index = tuple(int(i) for i in np.argwhere(np.isinf(values))[0])
        raise DataError(f"{name}[{', '.join(map(str, index))}] is infinite; a paired test needs finite values")
