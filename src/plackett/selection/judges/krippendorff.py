"""Krippendorff's alpha."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett.selection.judges.ratings import JudgeRatings

__all__ = ["krippendorff_alpha"]


def _nominal(grades: np.ndarray, total: np.ndarray) -> np.ndarray:
    return (np.subtract.outer(grades, grades) != 0).astype(float)


def _interval(grades: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.square(np.subtract.outer(grades, grades))


def _ordinal(grades: np.ndarray, total: np.ndarray) -> np.ndarray:
    middle = np.cumsum(total) - total / 2.0
    return np.square(np.subtract.outer(middle, middle))


LEVELS = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}


def krippendorff_alpha(ratings: Any, *, level: str = "ordinal") -> float:
    r"""Agreement of any number of judges with labels missing anywhere: one minus observed over expected disagreement.

    .. math:: \alpha = 1 - \frac{\sum_{kl} o_{kl}\, \delta^2_{kl}}{\sum_{kl} e_{kl}\, \delta^2_{kl}}

    Items with fewer than two labels are left out. 1 is full agreement, 0 is agreement by chance; NaN with only one
    grade.

    Parameters
    ----------
    ratings
        `JudgeRatings`, or what they are made of: labels, items × judges.
    level
        How far apart two grades are: ``"nominal"`` (equal or not), ``"ordinal"`` (how many labels lie between them) or
        ``"interval"`` (the squared difference).

    Examples
    --------
    >>> krippendorff_alpha([[1, 1], [2, 2], [3, 3]])
    1.0

    References
    ----------
    Krippendorff: Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.
    """
    choice("level", level, LEVELS)
    checked = JudgeRatings.of(ratings)
    counts = checked.counts.astype(np.float64)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return float("nan")
    each = counts / (counts.sum(axis=1) - 1.0)[:, None]
    observed = each.T @ counts - np.diag(each.sum(axis=0))
    total = counts.sum(axis=0)
    cost = LEVELS[level](checked.grades, total)
    expected = (np.outer(total, total) - np.diag(total)) / (total.sum() - 1.0)
    chance = float((cost * expected).sum())
    return 1.0 - float((cost * observed).sum()) / chance if chance > 0 else float("nan")
