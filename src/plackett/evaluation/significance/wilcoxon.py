"""Wilcoxon's signed-rank test."""

from __future__ import annotations

from typing import Any

from plackett.evaluation.significance.paired import PairedTest, differences, direction

__all__ = ["wilcoxon"]


def wilcoxon(a: Any, b: Any, *, alternative: str = "two-sided", random_state: int = 0) -> PairedTest:
    """Wilcoxon's signed-rank test (SciPy's): are the differences symmetric about 0?

    The sizes of the differences are ranked, and the ranks of the positive ones are added up. Queries without a
    difference are left out. The null hypothesis is about the median of the differences, not the mean: to
    find out which system has the better mean, use `fisher` or `student` instead
    (Smucker, Allan and Carterette 2007 advise against this test).

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
    Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1945.

    Examples
    --------
    >>> wilcoxon([0.9, 0.8, 0.7], [0.5, 0.7, 0.4]).pvalue
    0.25
    """
    from scipy.stats import wilcoxon as signed_rank

    d = differences(a, b)
    direction(alternative)
    if not d.any():
        return PairedTest(0.0, 0.0, 1.0, d.size)
    test = signed_rank(d, alternative=alternative)
    return PairedTest(float(d.mean()), float(test.statistic), float(test.pvalue), d.size)
