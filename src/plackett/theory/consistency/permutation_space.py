"""A probability for each order of a few documents, and whether the better of two is better in every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["PermutationSpace", "is_order_preserving", "preserved_pairs"]

#: 7! orders are 5040.
_MOST = 7


@lru_cache
def all_orders(m: int) -> np.ndarray:
    """All orders of m documents, a row each, in lexical order."""
    if not 1 <= m <= _MOST:
        raise DataError(f"{m} documents; spaces of orders have 1 to {_MOST}")
    table = np.array(list(permutations(range(m))), np.int64).reshape(-1, m)
    table.flags.writeable = False
    return table


@lru_cache
def exchange_table(m: int, i: int, j: int) -> np.ndarray:
    """Number of the order that comes from each one by exchanging documents i and j."""
    orders = all_orders(m)
    swap = np.arange(m)
    swap[[i, j]] = j, i
    code = m ** np.arange(m - 1, -1, -1)
    return np.searchsorted(orders @ code, swap[orders] @ code)


@dataclass(frozen=True, eq=False)
class PermutationSpace:
    """A distribution over the orders of m documents, m up to 7.

    Parameters
    ----------
    probabilities
        One for each of the m! orders in the lexical order of `orders`, or a mapping from orders (best document first)
        to probabilities. They are made to sum to 1.

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.

    Examples
    --------
    >>> space = PermutationSpace({(0, 1, 2): 0.6, (2, 1, 0): 0.4})
    >>> space.mode.tolist(), float(space.precedence[0, 2])
    ([0, 1, 2], 0.6)
    >>> PermutationSpace.plackett_luce([1.0, 0.0]).probabilities.round(4).tolist()
    [0.7311, 0.2689]
    """

    probabilities: Any

    def __post_init__(self) -> None:
        given = self.probabilities
        if isinstance(given, Mapping):
            if not given:
                raise DataError("probabilities are empty: give at least one order")
            m = len(next(iter(given)))
            index = {tuple(order): i for i, order in enumerate(all_orders(m).tolist())}
            p = np.zeros(len(index))
            for order, chance in given.items():
                if tuple(order) not in index:
                    raise DataError(f"{order} is not an order of the documents 0 to {m - 1}")
                p[index[tuple(order)]] = chance
        else:
            p = array("probabilities", given)
        array("probabilities", p, least=0.0)
        sizes = {all_orders(m).shape[0]: m for m in range(1, _MOST + 1)}
        if p.size not in sizes or not p.sum() > 0:
            raise DataError(f"give m! probabilities, m up to {_MOST}, of 0 or more; got shape {p.shape}")
        object.__setattr__(self, "probabilities", p / p.sum())
        object.__setattr__(self, "_m", 1 if p.size == 1 else sizes[p.size])

    # ------------------------------------------------------------------------------------------------------- makers

    @classmethod
    def uniform(cls, m: int) -> PermutationSpace:
        """The uniform distribution over the orders of m documents."""
        return cls(np.ones(all_orders(m).shape[0]))

    @classmethod
    def plackett_luce(cls, scores: Any) -> PermutationSpace:
        """The Plackett–Luce model of these scores."""
        s = array("scores", scores)
        strengths = np.exp(s - s.max())[all_orders(s.size)]
        rest = np.cumsum(strengths[:, ::-1], axis=1)[:, ::-1]
        return cls((strengths / rest).prod(axis=1))

    @classmethod
    def mallows(cls, m: int, theta: float) -> PermutationSpace:
        """The Mallows model around the order 0, 1, …, m − 1."""
        orders = all_orders(m)
        number("theta", theta)
        u, v = np.triu_indices(m, 1)
        return cls(np.exp(-theta * (orders[:, u] > orders[:, v]).sum(axis=1)))

    @classmethod
    def order_preserving(
        cls, m: int, *, k: int | None = None, random_state: Any = None, noise: float = 0.3
    ) -> PermutationSpace:
        """A random distribution that is order preserving, with k for the first k documents only.

        A mixture of Plackett–Luce and Mallows models around the order 0, 1, …, all of which are order preserving; then
        perturbed, with the perturbation reduced until the result is order preserving.
        """
        rng = np.random.default_rng(random_state)
        parts = [cls.plackett_luce(np.sort(rng.normal(0, 1.5, m))[::-1]).probabilities for _ in range(2)]
        parts.append(cls.mallows(m, rng.uniform(0.2, 1.5)).probabilities)
        mixed = rng.dirichlet(np.ones(3)) @ np.array(parts)
        disturbance = rng.standard_normal(mixed.size)
        while True:
            space = cls(mixed * np.exp(noise * disturbance))
            if is_order_preserving(space, k):
                return space
            noise = noise / 2 if noise > 1e-4 else 0.0

    @classmethod
    def random(cls, m: int, *, random_state: Any = None, concentration: float = 0.5) -> PermutationSpace:
        """A random distribution, drawn from a symmetric Dirichlet distribution."""
        rng = np.random.default_rng(random_state)
        return cls(rng.dirichlet(np.full(all_orders(m).shape[0], concentration)) + 1e-6)

    # ------------------------------------------------------------------------------------------------------- numbers

    @property
    def m(self) -> int:
        """Number of documents."""
        return self._m  # type: ignore[attr-defined, no-any-return]

    @property
    def orders(self) -> np.ndarray:
        """The orders, a row each, best document first."""
        return all_orders(self.m)

    @cached_property
    def positions(self) -> np.ndarray:
        """Position, from 0, of each document in each order."""
        return np.argsort(self.orders, axis=1)

    @cached_property
    def labels(self) -> np.ndarray:
        """Labels that say the same as each order: m − 1 for the first document down to 0."""
        return (self.m - 1.0) - self.positions

    @property
    def mode(self) -> np.ndarray:
        """The most probable order."""
        return self.orders[int(np.argmax(self.probabilities))]

    @cached_property
    def precedence(self) -> np.ndarray:
        """Probability that document i (row) is above document j (column)."""
        above = self.positions[:, :, None] < self.positions[:, None, :]
        return np.tensordot(self.probabilities, above, 1)

    def top(self, k: int) -> np.ndarray:
        """For each order the probability that a drawn order has the same first k documents in the same order."""
        code = self.orders[:, :k] @ (self.m ** np.arange(k))
        _, group = np.unique(code, return_inverse=True)
        return np.bincount(group, self.probabilities)[group]


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
