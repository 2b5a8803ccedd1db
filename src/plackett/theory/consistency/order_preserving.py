"""Spaces in which the better of two documents is better in every comparison."""

from __future__ import annotations

import numpy as np

from plackett._base.arguments import number
from plackett.theory.consistency.permutation_space import PermutationSpace, exchange_table

__all__ = ["is_order_preserving", "preserved_pairs"]


def preserved_pairs(space: PermutationSpace, k: int | None = None) -> np.ndarray:
    r"""Table that is True at (i, j) where the space is order preserving for the two documents.

    It is, if every order that ranks i above j is more probable than the one with the two exchanged:
    :math:`P(\pi) > P(\sigma_{ij} \pi)`. With k, the probabilities are those of the first k documents, and only orders
    whose first k differ by the exchange count.

    >>> preserved_pairs(PermutationSpace.plackett_luce([1.0, 0.0, 0.0])).tolist()
    [[False, True, True], [False, False, False], [False, False, False]]

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    """
    m = space.m
    if k is not None:
        number("k", k, least=1, most=m)
    weight = space.probabilities if k is None else space.top(k)
    first = space.orders[:, : k or m]
    out = np.zeros((m, m), bool)
    for i in range(m):
        for j in range(m):
            if i == j:
                continue
            swapped = exchange_table(m, i, j)
            counted = (space.positions[:, i] < space.positions[:, j]) & (first != first[swapped]).any(axis=1)
            out[i, j] = bool((weight > weight[swapped] * (1 + 1e-12))[counted].all())
    return out


def is_order_preserving(space: PermutationSpace, k: int | None = None) -> bool:
    r"""Whether a space meets the condition of the theorems on consistency.

    Permutation level (Theorem 18.3): some order :math:`j_1, …, j_m` of the documents whose m − 1 neighbours are
    preserved pairs. Top k (Theorem 18.4): the k pairs :math:`(j_i, j_{i+1})`, and for each later document a pair with
    one between rank k + 1 and itself, :math:`(j_{k+s}, j_{k+i})` with :math:`0 \le s < i`.

    >>> is_order_preserving(PermutationSpace.plackett_luce([2.0, 1.0, 0.0]))
    True
    >>> is_order_preserving(PermutationSpace.uniform(3))
    False

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    """
    pairs = preserved_pairs(space, k)
    m = space.m
    chain = m - 1 if k is None else min(k, m - 1)
    for order in space.orders:
        if not all(pairs[order[i], order[i + 1]] for i in range(chain)):
            continue
        # the documents after the chain: each below one of rank `chain` or later that stands above it
        if all(pairs[order[chain - 1 : i], order[i]].any() for i in range(chain + 1, m)):
            return True
    return False
