"""Student's paired t test."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.evaluation.significance.paired import PairedTest, differences, direction

__all__ = ["student"]


def student(a: Any, b: Any, *, alternative: str = "two-sided", random_state: int = 0) -> PairedTest:
    r"""Student's paired t test of the mean difference.

    .. math:: t = \frac{\bar d}{s_d / \sqrt{n}}, \qquad d_q = a_q - b_q,

    against the t distribution with n − 1 degrees of freedom. It assumes that the mean of the differences is normal,
    which is a good approximation for a few dozen queries or more, and agrees closely with `fisher` in practice.

    Differences that are all 0 give p = 1. Differences that are all equal and not 0 have no spread to compare with:
    p = 0, t infinite; with a single query p = 1.

    Parameters
    ----------
    a, b
        One value per query, in the same order. Queries with NaN in either are left out.
    alternative
        ``"two-sided"``; ``"greater"``: a is better (larger); ``"less"``.
    random_state
        Not used; all tests accept it.

    References
    ----------
    Student: The probable error of a mean. Biometrika 1908.

    Examples
    --------
    >>> round(student([0.9, 0.8, 0.7, 0.6], [0.5, 0.7, 0.4, 0.6]).pvalue, 4)
    0.1162
    """
    from scipy.special import stdtr

    d = differences(a, b)
    mean, n = float(d.mean()), d.size
    sign = direction(alternative)
    if n == 1:
        return PairedTest(mean, float("nan"), 1.0, n)
    error = float(d.std(ddof=1) / np.sqrt(n))
    if error <= np.finfo(float).eps * abs(mean):
        error = 0.0
    t = mean / error if error else (0.0 if mean == 0 else float(np.copysign(np.inf, mean)))
    p = float(stdtr(n - 1, -sign * t) if sign else 2 * stdtr(n - 1, -abs(t)))
    return PairedTest(mean, t, p if d.any() else 1.0, n)
