"""Errors of a scoring function on labelled pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import array, matching

__all__ = ["misranking_error", "pair_margin_loss"]


def misranking_error(first: Any, second: Any, sign: Any) -> float:
    r"""Pairwise misranking error :math:`\frac1m \sum_i [y_i \ne 0 \wedge y_i (h(x'_i) - h(x_i)) \le 0]`.

    A tie is an error. Pairs of sign 0 are never errors but count in the divisor.

    Parameters
    ----------
    first, second
        Scores h(x) and h(x′) of the documents of each pair.
    sign
        +1 where x′ is the better one, −1 where x is, 0 where neither is.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> misranking_error([0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 1.0, 5.0], [1, 1, 1, 0])
    0.5
    """
    y, gap = _pairs(first, second, sign)
    return float(((y != 0) & (y * gap <= 0)).mean())


def pair_margin_loss(first: Any, second: Any, sign: Any, rho: float) -> float:
    r"""Empirical margin loss :math:`\frac1m \sum_{y_i \ne 0} \Phi_\rho(y_i (h(x'_i) - h(x_i)))`,
    :math:`\Phi_\rho(t) = \min(1, \max(0, 1 - t / \rho))`.

    At least the misranking error, and at most the share of pairs whose margin is ρ or less.

    >>> pair_margin_loss([0.0, 0.0], [1.0, 3.0], [1, 1], rho=2.0)
    0.25

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    number("rho", rho, above=0.0)
    y, gap = _pairs(first, second, sign)
    return float(np.where(y != 0, np.clip(1.0 - y * gap / rho, 0.0, 1.0), 0.0).mean())


def _pairs(first: Any, second: Any, sign: Any) -> tuple[np.ndarray, np.ndarray]:
    """Signs, and score differences h(x′) − h(x)."""
    a, b, y = array("first", first), array("second", second), array("sign", sign)
    matching(first=a, second=b, sign=y)
    if not np.isin(y, (-1, 0, 1)).all():
        raise DataError("sign: give -1, 0 or 1 for each pair")
    return y, b - a
