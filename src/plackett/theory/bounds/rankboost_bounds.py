"""What RankBoost's rounds guarantee about its training error and its margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.theory.bounds.ranking_margin import ensemble_margins

__all__ = [
    "boosted_distribution",
    "empirical_margin_loss",
    "normalised_edge",
    "rankboost_error_bounds",
    "rankboost_margin_bound",
]


@dataclass(frozen=True)
class ErrorBounds:
    r"""Bounds on the share of misordered pairs after each round, from the tightest to the loosest.

    Attributes
    ----------
    product
        :math:`\prod_s Z_s`, with :math:`Z = \varepsilon^0 + 2\sqrt{\varepsilon^+ \varepsilon^-}`: the mean exponential
        loss.
    normalised
        :math:`e^{-2\sum_s \bar\gamma_s^2}` with the normalised edges of `normalised_edge`.
    edges
        :math:`e^{-2\sum_s \gamma_s^2}` with the edges :math:`\gamma = (\varepsilon^+ - \varepsilon^-)/2`.
    """

    product: np.ndarray
    normalised: np.ndarray
    edges: np.ndarray


def boosted_distribution(differences: Any, alphas: Any) -> tuple[np.ndarray, float]:
    r"""RankBoost's distribution over m pairs, and the product of its normalisers, from the ensemble alone.

    .. math:: D_{t+1}(i) = \frac{e^{-\sum_s \alpha_s d_{is}}}{m \prod_s Z_s}, \qquad
              \prod_s Z_s = \frac1m \sum_i e^{-\sum_s \alpha_s d_{is}}

    Parameters
    ----------
    differences
        :math:`d_{is} = h_s(u_i) - h_s(v_i)` for pair i, of which u should be before v, and round s.
    alphas
        Weight of each round.

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.

    Examples
    --------
    >>> distribution, product = boosted_distribution([[1], [-1]], [np.log(2)])
    >>> distribution.round(3).tolist(), round(product, 3)
    ([0.2, 0.8], 1.25)
    """
    margins = ensemble_margins(differences, alphas)[0]
    lowest = margins.min()
    powers = np.exp(lowest - margins)
    return powers / powers.sum(), float(powers.mean() * np.exp(-lowest))


def rankboost_error_bounds(plus: Any, minus: Any) -> ErrorBounds:
    r"""Bounds on RankBoost's training error after each round: Theorem 10.3 of Mohri et al. with its steps.

    .. math:: \hat R \le \prod_s Z_s \le \prod_s \sqrt{1 - \frac{(\varepsilon_s^+ - \varepsilon_s^-)^2}{1 -
              \varepsilon_s^0}} \le e^{-2\sum_s \bar\gamma_s^2} \le e^{-2\sum_s \gamma_s^2}

    They hold for weak rankers of 0 and 1 with the step ½ log(ε⁺/ε⁻); a tie of the scores counts as an error.

    Parameters
    ----------
    plus, minus
        Shares ε⁺, ε⁻ of the pairs that each round's weak ranker orders rightly and wrongly under that round's
        distribution (``ranker.rounds_["plus"]``, ``["minus"]`` of a fitted `RankBoost`).

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.

    Examples
    --------
    >>> rankboost_error_bounds([0.5, 0.5], [0.125, 0.125]).product.tolist()
    [0.875, 0.765625]
    """
    right, wrong = _shares(plus, minus)
    normaliser = 1.0 - right - wrong + 2.0 * np.sqrt(right * wrong)
    return ErrorBounds(
        np.cumprod(normaliser),
        np.exp(-2.0 * np.cumsum(normalised_edge(right, wrong) ** 2)),
        np.exp(-2.0 * np.cumsum(((right - wrong) / 2.0) ** 2)),
    )


def normalised_edge(plus: Any, minus: Any) -> np.ndarray:
    r"""The edge of a weak ranker in relation to the pairs it does not tie,

    .. math:: \bar\gamma = \frac{\varepsilon^+ - \varepsilon^-}{2\sqrt{\varepsilon^+ + \varepsilon^-}},

    which is at least the plain edge :math:`(\varepsilon^+ - \varepsilon^-)/2` and still gives the error bound
    :math:`e^{-2\sum\bar\gamma^2}`: a ranker that ties most pairs can still help. 0 where all pairs are tied.

    >>> normalised_edge([0.25], [0.0]).tolist()
    [0.25]

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    right, wrong = _shares(plus, minus)
    untied = right + wrong
    return np.divide(right - wrong, 2.0 * np.sqrt(untied), out=np.zeros_like(untied), where=untied > 0)


def rankboost_margin_bound(plus: Any, minus: Any, rho: float) -> float:
    r"""Bound on the share of pairs whose margin :math:`(f(u) - f(v)) / \lVert\alpha\rVert_1` is at most ρ:

    .. math:: \prod_t \Big(\frac{\varepsilon_t^+}{\varepsilon_t^-}\Big)^{\rho/2}
              \Big(\varepsilon_t^0 + 2\sqrt{\varepsilon_t^+ \varepsilon_t^-}\Big)

    for weak rankers of 0 and 1 with positive edges and the step ½ log(ε⁺/ε⁻); ρ = 0 is the error bound.

    >>> round(rankboost_margin_bound([0.8], [0.2], 0.0), 6), round(rankboost_margin_bound([0.8], [0.2], 0.5), 6)
    (0.8, 1.131371)

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    right, wrong = _shares(plus, minus)
    number("rho", rho, least=0.0)
    if (wrong <= 0).any() and rho > 0:
        return float("inf")
    factor = 1.0 if rho == 0 else (right / wrong) ** (rho / 2.0)
    return float(np.prod(factor * (1.0 - right - wrong + 2.0 * np.sqrt(right * wrong))))


def empirical_margin_loss(margins: Any, rho: float) -> float:
    """Share of pairs whose margin is at most ρ; ρ = 0 counts the misordered pairs, with ties.

    >>> empirical_margin_loss([-0.5, 0.0, 0.25, 0.75], 0.25)
    0.75

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    return float(np.mean(array("margins", margins, None) <= number("rho", rho)))


def _shares(plus: Any, minus: Any) -> tuple[np.ndarray, np.ndarray]:
    """ε⁺ and ε⁻ of each round."""
    right, wrong = (np.atleast_1d(array(n, v, None, least=0.0)) for n, v in (("plus", plus), ("minus", minus)))
    if right.shape != wrong.shape or (right + wrong > 1.0 + 1e-9).any():
        raise DataError("plus and minus must be shares of the pairs, of the same length, with plus + minus at most 1")
    return right, np.minimum(wrong, 1.0 - right)
