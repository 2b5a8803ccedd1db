"""How closely a surrogate measure follows a measure."""

from __future__ import annotations

from math import erf, exp, inf, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number, positive
from plackett.data.arguments import array, matching

__all__ = ["approx_ndcg_tendency", "soft_ndcg_tendency", "tendency_correlation"]


class Tendency(NamedTuple):
    """ε, and the scale β of the surrogate with which it is reached."""

    epsilon: float
    beta: float


def tendency_correlation(surrogate: Any, measure: Any) -> Tendency:
    r"""Tendency correlation of a surrogate measure with a measure, over a set of models:

    .. math:: \varepsilon = \min_{\beta \ge 0} \max_{w_1, w_2} \big| \beta (\tilde M(w_1) - \tilde M(w_2))
              - (M(w_1) - M(w_2)) \big|

    0 is perfect agreement. The largest disagreement is the range of :math:`\beta \tilde M - M`, so the minimum over β
    is a small linear program. With finitely many models the value is a lower bound of that over all of them.

    Parameters
    ----------
    surrogate, measure
        Values of the models, larger is better for both.

    References
    ----------
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.

    Examples
    --------
    >>> tendency_correlation([1.0, 3.0, 2.0], [0.1, 0.5, 0.3]).epsilon.__round__(9)
    0.0
    >>> tendency_correlation([3.0, 1.0], [0.1, 0.5]).epsilon.__round__(9)  # the other way round: β is 0
    0.4
    """
    from scipy.optimize import linprog

    a, m = array("surrogate", surrogate), array("measure", measure)
    matching(surrogate=a, measure=m)
    spread = float(np.ptp(a))
    if spread == 0 or np.ptp(m) == 0:
        return Tendency(float(np.ptp(m)), 0.0)
    scaled = (a - a.min()) / spread
    one = np.ones(a.size)
    # β, the lower end c and the range t of β·M̃ − M
    above = np.stack([scaled, -one, -one], axis=1)
    below = np.stack([-scaled, one, 0 * one], axis=1)
    solution = linprog(
        [0.0, 0.0, 1.0],
        A_ub=np.concatenate([above, below]),
        b_ub=np.concatenate([m, -m]),
        bounds=[(0, None), (None, None), (0, None)],
    )
    return Tendency(float(solution.x[2]), float(solution.x[0] / spread))


def soft_ndcg_tendency(sigma: float, gap: float, documents: int, *, top_label: int, ideal: float) -> float:
    r"""Theorem 5.4: bound of the tendency correlation of SoftNDCG with nDCG, where scores are at least δ apart,

    .. math:: \varepsilon \le \frac{2^L}{Z} (\varepsilon_1 + \varepsilon_2), \quad
              \varepsilon_1 = \frac{(m_0 - 1) \sigma}{2 \delta \sqrt\pi} e^{-\delta^2 / 4\sigma^2}, \quad
              \varepsilon_2 = \sqrt{\frac{\varepsilon_3}{1 - 5 \varepsilon_3}} + 5 \varepsilon_3, \quad
              \varepsilon_3 = \frac{m_0 - 1}{4} \Big(1 - \operatorname{erf}^2 \frac{\delta}{2\sigma}\Big)

    It vanishes with σ, and is infinite where :math:`\varepsilon_3 \ge 1/5`.

    Parameters
    ----------
    sigma, gap, documents
        σ of the noise, δ, and :math:`m_0`, the largest number of documents of a list.
    top_label, ideal
        L, and Z, the least ideal DCG.

    References
    ----------
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.

    Examples
    --------
    >>> soft_ndcg_tendency(0.1, 1.0, 10, top_label=2, ideal=3.0) < 1e-4
    True
    """
    positive(sigma=sigma, gap=gap, ideal=ideal)
    number("documents", documents, least=2)
    number("top_label", top_label, least=0)
    third = (documents - 1) * (1.0 - erf(gap / (2.0 * sigma)) ** 2) / 4.0
    if third >= 0.2:
        return inf
    first = (documents - 1) * sigma / (2.0 * gap * sqrt(pi)) * exp(-(gap**2) / (4.0 * sigma**2))
    second = sqrt(third / (1.0 - 5.0 * third)) + 5.0 * third
    return 2.0**top_label / ideal * (first + second)


def approx_ndcg_tendency(alpha: float, gap: float, documents: int) -> float:
    r"""Theorem 5.5: bound of the tendency correlation of ApproxNDCG with nDCG, where scores are at least δ apart,

    .. math:: \varepsilon < \frac{m_0 - 1}{(e^{\delta \alpha} + 1) \ln 2} \quad\text{for}\quad
              \alpha > \frac{\log \max(0, 2 m_0 - 3)}{\delta}

    (the book's fraction is garbled; only this one vanishes with α). Infinite for smaller α.

    >>> round(approx_ndcg_tendency(10.0, 1.0, 10), 6)
    0.000589

    References
    ----------
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.
    """
    positive(alpha=alpha, gap=gap)
    number("documents", documents, least=2)
    if alpha <= log(2 * documents - 3) / gap:
        return inf
    return (documents - 1) / ((exp(min(gap * alpha, 700.0)) + 1.0) * log(2.0))
