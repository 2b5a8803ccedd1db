"""The sign test."""

from __future__ import annotations

from typing import Any

from plackett.evaluation.significance.effects import TOLERANCE, win_tie_loss
from plackett.evaluation.significance.paired import PairedTest, differences, direction

__all__ = ["sign"]


def sign(
    a: Any, b: Any, *, alternative: str = "two-sided", tolerance: float = TOLERANCE, random_state: int = 0
) -> PairedTest:
    """The sign test: is a better than b on more than half of the queries on which they differ?

    Exact binomial probability of the number of wins among wins and losses. It ignores how large the differences are
    and is therefore less sensitive than `fisher`.

    Parameters
    ----------
    a, b
        One value per query, in the same order. Queries with NaN in either are left out.
    alternative
        ``"two-sided"``; ``"greater"``: a is better (larger); ``"less"``.
    tolerance
        A difference up to this size is a tie.
    random_state
        Not used; all tests accept it.

    References
    ----------
    Arbuthnott: An argument for divine providence. Philosophical Transactions of the Royal Society 1710.

    Examples
    --------
    >>> sign([0.9, 0.8, 0.7, 0.6], [0.5, 0.7, 0.4, 0.6]).pvalue  # 3 wins of 3: 2 / 2**3
    0.25
    """
    from scipy.stats import binomtest

    d = differences(a, b)
    direction(alternative)
    wins, _, losses = win_tie_loss(a, b, tolerance=tolerance)
    p = binomtest(wins, wins + losses, alternative=alternative).pvalue if wins + losses else 1.0
    return PairedTest(float(d.mean()), float(wins), float(p), d.size)
