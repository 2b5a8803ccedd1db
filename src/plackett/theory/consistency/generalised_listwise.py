"""Listwise surrogates of the form of ListMLE, with weights of positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett.data.arguments import array

__all__ = ["weighted_list_surrogate"]

Function = Callable[[np.ndarray], np.ndarray]


def _minus(x: np.ndarray) -> np.ndarray:
    return -x


def _minus_one(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, -1.0)


def _inverse(x: np.ndarray) -> np.ndarray:
    return 1.0 / x


def weighted_list_surrogate(
    weights: Any = None,
    *,
    alpha: tuple[Function, Function] = (_minus, _minus_one),
    beta: tuple[Function, Function] = (np.log, _inverse),
    gamma: tuple[Function, Function] = (np.exp, np.exp),
) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    r"""Listwise surrogate of scores and orders, for the tools of this package,

    .. math:: \sum_{u<m} D(u) \Big[\alpha(s_{(u)}) + \beta\Big(\sum_{v \ge u} \gamma(s_{(v)})\Big)\Big].

    With α(x) = −x, β = log and γ = exp, the defaults, it is ListMLE; the book prints β with the other sign.
    Where α falls strictly the minimiser is consistent with the difference-weighted Kendall's τ; where β and γ rise and
    D is constant, with the unweighted one (Theorem 18.6).

    Parameters
    ----------
    weights
        D(u) for each rank; None for 1.
    alpha, beta, gamma
        The functions and their derivatives.

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> weighted_list_surrogate()(np.zeros(3), np.array([[0, 1, 2]]))[0].round(4).tolist()  # log 3 + log 2
    [1.7918]
    """
    given = None if weights is None else array("weights", weights)

    def surrogate(scores: np.ndarray, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, m = orders.shape
        d = np.ones(m) if given is None else given[:m].copy()
        d[m - 1] = 0.0
        s = scores[orders]
        rest = np.cumsum(gamma[0](s)[:, ::-1], axis=1)[:, ::-1]
        values = (d * (alpha[0](s) + beta[0](rest))).sum(axis=1)
        pull = np.cumsum(d * beta[1](rest), axis=1)  # every earlier rank has this document in its rest
        along = d * alpha[1](s) + pull * gamma[1](s)
        gradient = np.empty((n, m))
        np.put_along_axis(gradient, orders, along, axis=1)
        return values, gradient

    return surrogate
