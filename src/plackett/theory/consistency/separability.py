"""Pairs of documents whose order is decided, and decided without cycles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.theory.consistency.permutation_space import PermutationSpace

__all__ = ["separability"]


class Separability(NamedTuple):
    """Weight of i before j, whether each pair is decided, whether the decisions have no cycle, and the order then."""

    weight: np.ndarray
    separable: bool
    transitive: bool
    order: np.ndarray | None


def separability(space: PermutationSpace, weights: Any = None) -> Separability:
    r"""Whether documents are separable under a weighted Kendall's τ.

    :math:`W_{ij} = \sum_{\pi: i \text{ above } j} P(\pi) D(\pi(i), \pi(j))`; two documents are separable where
    :math:`W_{ij} \ne W_{ji}`, and the space is transitive where the larger ones have no cycle. Then the order by W is
    the minimiser of the expected weighted Kendall's τ. This alone does not make convex surrogates consistent; an
    order-preserving space does.

    Parameters
    ----------
    weights
        D, as in `WeightedKendall`: None for 1, one number for each rank, or a table.

    References
    ----------
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> separability(PermutationSpace.mallows(3, 1.0)).order.tolist()
    [0, 1, 2]
    """
    m = space.m
    given = np.ones((m, m)) if weights is None else array("weights", weights, None)
    if given.ndim == 1:
        given = given[:, None] - given[None, :]
    if given.shape != (m, m):
        raise DataError(f"weights of shape {given.shape} for {m} documents")
    i, j = space.positions[:, :, None], space.positions[:, None, :]
    table = np.tensordot(space.probabilities, np.where(i < j, given[i, j], 0.0), 1)
    np.fill_diagonal(table, 0.0)
    off = ~np.eye(m, dtype=bool)
    slack = 1e-12 * max(1.0, float(np.abs(table).max()))
    separable = bool((np.abs(table - table.T) > slack)[off].all())
    wins = (table > table.T + slack).sum(axis=1)
    transitive = separable and sorted(wins.tolist()) == list(range(m))
    return Separability(table, separable, transitive, np.argsort(-wins, kind="stable") if transitive else None)
