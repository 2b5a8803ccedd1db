"""How far the AUC of a sample can be from its expectation."""

from __future__ import annotations

from math import log, sqrt

from plackett._base.arguments import choice, number, probability

__all__ = ["auc_deviation"]

#: ε² per log(2 / δ), from m positives and n negatives.
_METHODS = {
    "hoeffding": lambda m, n: 1.0 / (2.0 * min(m, n)),
    "mcdiarmid": lambda m, n: (m + n) / (2.0 * m * n),
}


def auc_deviation(m: int, n: int, delta: float = 0.05, method: str = "hoeffding") -> float:
    r"""Largest distance ε of the AUC of m positive and n negative documents from its mean, with probability 1 − δ.

    ``"mcdiarmid"`` (bounded differences): :math:`\delta = 2 e^{-2 \epsilon^2 m n / (m + n)}`; ``"hoeffding"``
    (two-sample U-statistics): :math:`\delta = 2 e^{-2 \epsilon^2 \min(m, n)}`, which is never more.

    >>> round(auc_deviation(100, 400), 7), round(auc_deviation(100, 400, method="mcdiarmid"), 7)
    (0.1358102, 0.1518404)

    References
    ----------
    Agarwal, Graepel, Herbrich, Har-Peled, Roth: Generalization bounds for the area under the ROC curve. JMLR 2005.
    """
    number("m", m, least=1)
    number("n", n, least=1)
    probability("delta", delta)
    choice("method", method, _METHODS)
    return sqrt(log(2.0 / delta) * _METHODS[method](m, n))
