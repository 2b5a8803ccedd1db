"""Effect sizes: how large a difference is, which a p-value does not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett.evaluation.significance.paired import differences

__all__ = ["cliffs_delta", "cohens_dz", "standardised_mean_difference"]

#: Differences up to this size are ties: rounding in the last digits of a measure is not a win.
TOLERANCE = 1e-9


class WinTieLoss(NamedTuple):
    """On how many queries the first system is better, equal, worse."""

    wins: int
    ties: int
    losses: int


def win_tie_loss(a: Any, b: Any, *, tolerance: float = TOLERANCE) -> WinTieLoss:
    """Number of queries on which a is better than, equal to (within ``tolerance``) and worse than b.

    >>> win_tie_loss([0.3, 0.5, 0.2], [0.1, 0.5, 0.4])
    WinTieLoss(wins=1, ties=1, losses=1)
    """
    number("tolerance", tolerance, least=0, error=ValueError)
    d = differences(a, b)
    wins, losses = int((d > tolerance).sum()), int((d < -tolerance).sum())
    return WinTieLoss(wins, d.size - wins - losses, losses)


def cohens_dz(a: Any, b: Any) -> float:
    r"""Cohen's :math:`d_z = \bar d / s_d`: the mean difference in units of the spread of the differences.

    It is t / √n of the paired t test: how clearly a query shows the difference. 0 if nothing differs, infinite if
    all differences are equal, NaN for a single query.

    >>> cohens_dz([3.0, 5.0, 4.0], [2.0, 3.0, 1.0])
    2.0

    References
    ----------
    Cohen: Statistical power analysis for the behavioral sciences. Erlbaum 1988.
    """
    d = differences(a, b)
    return _ratio(float(d.mean()), float(d.std(ddof=1)) if d.size > 1 else float("nan"))


def standardised_mean_difference(a: Any, b: Any) -> float:
    r"""Mean difference in units of the systems' own spread over queries, :math:`\bar d / \sqrt{(s_a^2 + s_b^2) / 2}`.

    Unlike `cohens_dz` it does not grow with the correlation of the two systems.

    >>> standardised_mean_difference([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    -1.0

    References
    ----------
    Cohen: Statistical power analysis for the behavioral sciences. Erlbaum 1988.
    """
    d = differences(a, b)
    both = np.array([a, b], dtype=np.float64)
    both = both[:, ~np.isnan(both).any(axis=0)]
    spread = float(np.sqrt(both.var(axis=1, ddof=1).mean())) if d.size > 1 else float("nan")
    return _ratio(float(d.mean()), spread)


def cliffs_delta(a: Any, b: Any) -> float:
    r"""Cliff's delta: :math:`P(a_q > b_r) - P(a_q < b_r)` over all pairs of queries q, r; from −1 to 1.

    Sorting replaces the n² comparisons.

    >>> cliffs_delta([1.0, 2.0], [0.0, 1.0])  # 3 of 4 pairs larger, one equal
    0.75

    References
    ----------
    Cliff: Dominance statistics: ordinal analyses to answer ordinal questions. Psychological Bulletin 1993.
    """
    differences(a, b)
    both = np.array([a, b], dtype=np.float64)
    a, b = both[:, ~np.isnan(both).any(axis=0)]
    b = np.sort(b)
    smaller, not_larger = np.searchsorted(b, a, "left"), np.searchsorted(b, a, "right")
    return float((smaller.sum() - (b.size - not_larger).sum()) / (a.size * b.size))


def _ratio(mean: float, spread: float) -> float:
    if mean == 0 and spread == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        return float(np.divide(mean, spread))


#: Effect sizes by name: functions of the two systems' values per query.
EFFECTS: dict[str, Callable[[Any, Any], float]] = {
    "cohens_dz": cohens_dz,
    "standardised_mean_difference": standardised_mean_difference,
    "cliffs_delta": cliffs_delta,
}
