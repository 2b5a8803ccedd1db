"""Risk-sensitive comparison: a loss on a query that a baseline does well weighs more than an equal gain elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett.evaluation.significance.paired import differences, matrix

__all__ = ["geo_risk", "reward_risk", "trisk", "urisk", "zrisk"]


class RewardRisk(NamedTuple):
    """Total gain of queries that got better and total loss on those that got worse, over the number of queries."""

    reward: float
    risk: float


def reward_risk(system: Any, baseline: Any) -> RewardRisk:
    r"""Reward and risk of a system against a baseline; larger values are better.

    .. math:: \text{reward} = \frac1n \sum_q \max(0, \delta_q), \qquad \text{risk} = \frac1n \sum_q \max(0, -\delta_q),
        \qquad \delta_q = \text{system}_q - \text{baseline}_q

    Their difference is the difference of the means.

    >>> reward_risk([0.5, 0.75], [0.25, 1.0])
    RewardRisk(reward=0.125, risk=0.125)

    References
    ----------
    Wang, Bennett, Collins-Thompson: Robust ranking models via risk-sensitive optimization. SIGIR 2012.
    """
    d = differences(system, baseline)
    return RewardRisk(float(np.maximum(d, 0).mean()), float(np.maximum(-d, 0).mean()))


def urisk(system: Any, baseline: Any, *, alpha: float = 1.0) -> float:
    r"""Risk-sensitive utility: reward minus (1 + α) times the risk.

    .. math:: U_\text{risk} = \frac1n \Big[\sum_{\delta_q > 0} \delta_q + (1 + \alpha) \sum_{\delta_q < 0} \delta_q\Big]

    α = 0 is the difference of the means; the larger α, the heavier the losses.

    >>> urisk([0.5, 0.75], [0.25, 1.0], alpha=2)
    -0.25

    References
    ----------
    Wang, Bennett, Collins-Thompson: Robust ranking models via risk-sensitive optimization. SIGIR 2012.
    """
    return float(_weighted(system, baseline, alpha).mean())


def trisk(system: Any, baseline: Any, *, alpha: float = 1.0) -> float:
    r"""`urisk` divided by its standard error, a Student's t with n − 1 degrees of freedom.

    .. math:: T_\text{risk} = \frac{U_\text{risk}}{s_x / \sqrt n}, \qquad
        x_q = \delta_q \text{ if } \delta_q \ge 0 \text{ else } (1 + \alpha)\,\delta_q

    Below −2 the system is significantly riskier than the baseline; above 2 the gains outweigh the weighted losses. With
    α = 0 it is the paired t statistic. 0 if nothing differs; NaN for a single query.

    >>> trisk([0.5, 0.5], [0.5, 0.5])
    0.0

    References
    ----------
    Dinçer, Macdonald, Ounis: Hypothesis testing for the risk-sensitive evaluation of retrieval systems. SIGIR 2014.
    """
    x = _weighted(system, baseline, alpha)
    if x.size < 2:
        return float("nan")
    if not x.any():
        return 0.0
    with np.errstate(divide="ignore"):
        return float(np.divide(x.mean(), x.std(ddof=1) / np.sqrt(x.size)))


def zrisk(values: Any, *, alpha: float = 1.0) -> np.ndarray:
    r"""ZRisk of several systems, with all of them together as the baseline.

    With :math:`x_{iq}` the value of system i on query q, the value expected from the totals of system and query is
    :math:`e_{iq} = \sum_{q'} x_{iq'} \sum_{i'} x_{i'q} / \sum x`, as in a chi-squared test, and

    .. math:: z_{iq} = \frac{x_{iq} - e_{iq}}{\sqrt{e_{iq}}}, \qquad
        Z_i = \sum_{z_{iq} > 0} z_{iq} + (1 + \alpha) \sum_{z_{iq} < 0} z_{iq}

    It measures how evenly a system performs over the queries, not how well: a system with the same share of each
    query's total scores 0. A query on which every system scores 0 adds nothing. Values must be 0 or more.

    Parameters
    ----------
    values
        Queries × systems. Queries with NaN for any system are left out.
    alpha
        Additional weight of the losses.

    References
    ----------
    Dinçer, Macdonald, Ounis: Risk-sensitive evaluation and learning to rank using multiple baselines. SIGIR 2016.

    Examples
    --------
    >>> zrisk([[0.5, 0.25], [0.25, 0.125]]).tolist()  # the first has two thirds of each query's total
    [0.0, 0.0]
    """
    return _chi_squared(matrix(values), alpha)


def geo_risk(values: Any, *, alpha: float = 1.0) -> np.ndarray:
    r"""GeoRisk of several systems: the geometric mean of a system's mean value and its robustness over queries.

    .. math:: \text{GeoRisk}_i = \sqrt{\bar x_i \, \Phi(Z_i / n)}

    with :math:`Z_i` the `zrisk` of the system, n the number of queries and Φ the normal distribution function.

    Parameters
    ----------
    values
        Queries × systems, 0 or more. Queries with NaN for any system are left out.
    alpha
        Additional weight of the losses.

    References
    ----------
    Dinçer, Macdonald, Ounis: Risk-sensitive evaluation and learning to rank using multiple baselines. SIGIR 2016.

    Examples
    --------
    >>> geo_risk([[0.5, 0.5], [0.5, 0.5]]).tolist()  # nothing differs: √(0.5 · Φ(0))
    [0.5, 0.5]
    """
    from scipy.special import ndtr

    x = matrix(values)
    return np.sqrt(x.mean(axis=0) * ndtr(_chi_squared(x, alpha) / len(x)))


def _chi_squared(x: np.ndarray, alpha: float) -> np.ndarray:
    _check_alpha(alpha)
    if (x < 0).any():
        raise ValueError("ZRisk and GeoRisk are defined for values of 0 or more")
    if not x.any():
        return np.zeros(x.shape[1])
    expected = x.sum(axis=1, keepdims=True) * x.sum(axis=0) / x.sum()
    z = np.divide(x - expected, np.sqrt(expected), out=np.zeros_like(x), where=expected > 0)
    return np.where(z < 0, (1 + alpha) * z, z).sum(axis=0)


def _check_alpha(alpha: float) -> None:
    number("alpha", alpha, least=0, error=ValueError)


def _weighted(system: Any, baseline: Any, alpha: float) -> np.ndarray:
    _check_alpha(alpha)
    d = differences(system, baseline)
    return np.where(d < 0, (1 + alpha) * d, d)
