"""Pair surrogates with weights of positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["pair_surrogate_conditions", "weighted_pair_surrogate"]


def weighted_pair_surrogate(
    phi: Callable[[np.ndarray], np.ndarray], slope: Callable[[np.ndarray], np.ndarray], weights: Any = None
) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    r"""Surrogate :math:`\sum_{u<v} D(u, v)\, \varphi(s_{(u)} - s_{(v)})` of scores and orders.

    Where φ is differentiable, not negative, does not rise and has :math:`\varphi'(0) < 0`, its minimiser is consistent
    with the Kendall's τ of the same weights on order-preserving spaces (Theorem 18.5). RankNet and RankBoost have
    D = 1, so they are consistent with the unweighted one only.

    Parameters
    ----------
    phi, slope
        φ and φ′, of arrays.
    weights
        D, as in `WeightedKendall`.

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> logistic = weighted_pair_surrogate(lambda z: np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)))
    >>> logistic(np.zeros(2), np.array([[0, 1]]))[0].round(4).tolist()
    [0.6931]
    """
    given = None if weights is None else array("weights", weights, None)
    if given is not None and (given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[0] != given.shape[1])):
        raise DataError(f"weights have shape {given.shape}; give one number for each rank, or a square table of them")

    def surrogate(scores: np.ndarray, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, m = orders.shape
        table = np.ones((m, m)) if given is None else given
        if table.ndim == 1:
            table = table[:m, None] - table[None, :m]
        u, v = np.triu_indices(m, 1)
        sorted_scores = scores[orders]
        z = sorted_scores[:, u] - sorted_scores[:, v]
        steep = table[u, v] * slope(z)
        along = steep @ (np.eye(m)[u] - np.eye(m)[v])
        gradient = np.empty((n, m))
        np.put_along_axis(gradient, orders, along, axis=1)
        return (table[u, v] * phi(z)).sum(axis=1), gradient

    return surrogate


class PairSurrogateConditions(NamedTuple):
    """The conditions of Theorem 18.5 on φ, on a grid."""

    non_negative: bool
    non_increasing: bool
    differentiable: bool
    falls_at_zero: bool

    @property
    def all(self) -> bool:
        """Whether all of them hold."""
        return all(self)


def pair_surrogate_conditions(phi: Callable[[np.ndarray], np.ndarray]) -> PairSurrogateConditions:
    """Whether φ of the margin meets the conditions of Theorem 18.5, checked on a grid from −6 to 6.

    >>> pair_surrogate_conditions(lambda z: np.exp(-z)).all
    True
    >>> pair_surrogate_conditions(lambda z: np.maximum(0, 1 - z)).differentiable  # the theorem is silent on the hinge
    False

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.
    """
    z = np.linspace(-6.0, 6.0, 2401)
    h = 1e-6
    left, here, right = (np.asarray(phi(z + d), np.float64) for d in (-h, 0.0, h))
    scale = 1.0 + np.abs(here)
    kinks = np.abs((right - here) - (here - left)) / h
    centre = (phi(np.array([h]))[0] - phi(np.array([-h]))[0]) / (2 * h)
    return PairSurrogateConditions(
        bool((here >= -1e-12).all()),
        bool((np.diff(here) <= 1e-9 * scale[1:]).all()),
        bool((kinks <= 1e-2 * scale).all()),
        bool(centre < -1e-6),
    )
