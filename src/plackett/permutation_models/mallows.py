"""The Mallows model: orders are rarer the more pairs they turn round."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel, over_queries
from plackett.permutation_models._orders import as_orders, as_weights

__all__ = ["Mallows", "fit_theta", "improve"]

#: Largest θ of a fit: e^−40 is nothing beside 1.
_LARGEST = 40.0


class Mallows:
    r"""Mallows model of the orders of m items.

    .. math:: P(\pi) = \frac{e^{-\theta\, d(\pi, \pi_0)}}{Z}, \qquad
              Z = \prod_{i=1}^{m} \frac{1 - e^{-i \theta}}{1 - e^{-\theta}}

    with d the number of pairs in another order than in the centre :math:`\pi_0`. An order is a chain of draws without
    putting back, of which each skips :math:`V_r` of the remaining items of the centre, with
    :math:`P(V_r = v) \propto e^{-\theta v}` independently; so the first k ranks have a closed form too.

    Parameters
    ----------
    center
        The most probable order, best item first.
    theta
        Concentration θ ≥ 0; 0 is uniform.

    Examples
    --------
    >>> model = Mallows([0, 1, 2], theta=np.log(2.0))
    >>> np.exp(model.log_prob([[0, 1, 2], [2, 1, 0]])).round(4).tolist()  # 1/Z and 1/8Z with Z = 1 · 1.5 · 1.75
    [0.381, 0.0476]
    >>> Mallows.fit([[0, 1, 2], [0, 1, 2], [1, 0, 2]]).mode().tolist()
    [0, 1, 2]

    References
    ----------
    Mallows: Non-null ranking models. Biometrika 1957. Fligner, Verducci: Distance based ranking models. Journal of the
    Royal Statistical Society B 1986.
    """

    ids: ClassVar[tuple[str, ...]] = ("perm.mallows",)
    paper: ClassVar[str] = "Mallows 1957"

    def __init__(self, center: Any, theta: float) -> None:
        orders, n_items = as_orders([np.asarray(center)])
        if orders.items.size != n_items:
            raise DataError(f"center must have all items 0 to {n_items - 1}")
        if not 0 <= theta < np.inf:
            raise DataError(f"theta={theta}; give a number of 0 or more")
        self.center = orders.items
        self.theta = float(theta)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.center.size

    def distance(self, orders: Any) -> np.ndarray:
        """Number of pairs that each order has the other way round than the centre.

        Of an order that stops after its first ranks: pairs within it, and of its items with those below.
        """
        found, _ = as_orders(orders, self.n_items)
        out = np.empty(found.n)
        over_queries(_distance, found.offsets, found.items, _ranks(self.center), out)
        return out

    def log_normaliser(self, k: int | None = None) -> float:
        """The logarithm of Z, or of the part of it that the first k ranks have."""
        sizes = np.arange(self.n_items, 0, -1)[:k]
        return float(_log_sizes(sizes, self.theta).sum())

    def log_prob(self, orders: Any) -> np.ndarray:
        """Log-probability of each order, complete or only its first ranks."""
        found, _ = as_orders(orders, self.n_items)
        parts = np.concatenate(([0.0], np.cumsum(_log_sizes(np.arange(self.n_items, 0, -1), self.theta))))
        return -self.theta * self.distance(orders) - parts[np.diff(found.offsets)]

    def mean_distance(self, k: int | None = None) -> float:
        """Expected distance of a draw, or of its first k ranks."""
        return _mean_distance(self.theta, np.arange(self.n_items, 0, -1)[:k])

    def mode(self, k: int | None = None) -> np.ndarray:
        """The centre, or its first k ranks."""
        return self.center[:k].copy()

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row."""
        rng = np.random.default_rng(random_state)
        sizes = np.arange(self.n_items, 0, -1)[:k]
        u = rng.random((n, sizes.size))
        if self.theta == 0:
            skipped = np.floor(u * sizes)
        else:  # the inverse of the distribution function of V, exact for small θ too
            skipped = np.floor(-np.log1p(u * np.expm1(-self.theta * sizes)) / self.theta)
        out = np.empty((n, sizes.size), np.int64)
        _from_skips(np.minimum(skipped, sizes - 1).astype(np.int64), self.center, out)
        return out

    @classmethod
    def fit(cls, orders: Any, *, n_items: int | None = None, weights: Any = None, center: Any = None) -> Self:
        """Most probable centre and θ.

        The centre is Borda's order, improved by moving one item at a time as long as fewer pairs disagree (a local
        optimum: the best centre, Kemeny's, is NP-hard to find). θ is the one whose expected distance is the mean of
        those observed, at most 40.

        Parameters
        ----------
        orders
            Items best first, complete or only the first ranks; items that are not listed stand below.
        n_items
            Number of items; the largest number in the orders, plus 1, without it.
        weights
            How often each order counts.
        center
            The centre, where it is known.
        """
        found, n_items = as_orders(orders, n_items)
        weight = as_weights(weights, found.n)
        if center is None:
            before = np.zeros((n_items, n_items))
            _count_pairs(found.offsets, found.items, weight, before)
            center = np.argsort(before.sum(axis=0) - before.sum(axis=1), kind="stable")
            improve(center, before)
        model = cls(center, 0.0)
        lengths = np.diff(found.offsets)
        distance = float(weight @ model.distance(orders))
        share = np.bincount(lengths, weight, n_items + 1)[::-1].cumsum()[::-1][1:]  # orders that have rank r
        sizes = np.arange(n_items, 0, -1)

        return cls(center, fit_theta(distance, sizes, share))


def fit_theta(distance: float, sizes: np.ndarray, share: np.ndarray) -> float:
    """Most probable θ of a total distance, where ``share`` draws were made out of each number of items in ``sizes``.

    The expected distance falls with θ; at most 40.
    """
    from scipy.optimize import brentq

    def excess(theta: float) -> float:
        return float(share @ _mean_skips(theta, sizes)) - distance

    if excess(0.0) <= 0:
        return 0.0
    return _LARGEST if excess(_LARGEST) >= 0 else float(brentq(excess, 0.0, _LARGEST, xtol=1e-12))


def _ranks(order: np.ndarray) -> np.ndarray:
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def _log_sizes(sizes: np.ndarray, theta: float) -> np.ndarray:
    """Logarithm of Σ e^(−θv) over v = 0..n−1, for each n."""
    if theta == 0:
        return np.log(sizes)
    return np.log(np.expm1(-theta * sizes) / np.expm1(-theta))


def _mean_skips(theta: float, sizes: np.ndarray) -> np.ndarray:
    """E[V] for each number of items to draw from."""
    if theta < 1e-6:  # the difference below would lose its digits
        return (sizes - 1) / 2 - theta * (sizes**2 - 1) / 12
    return 1.0 / np.expm1(theta) - sizes / np.expm1(np.minimum(theta * sizes, 700.0))  # e^709 overflows


def _mean_distance(theta: float, sizes: np.ndarray) -> float:
    return float(_mean_skips(theta, sizes).sum())


@kernel
def _distance(lo, hi, offsets, items, ranks, out):  # type: ignore[no-untyped-def]
    """Σ over the ranks of how many items that come later, or not at all, stand before in the centre."""
    n = ranks.size
    tree = np.empty(n + 1, np.int64)  # Fenwick tree: which ranks of the centre have come
    for t in range(lo, hi):
        tree[:] = 0
        total = 0
        for i in range(offsets[t], offsets[t + 1]):
            rank = ranks[items[i]]
            total += rank
            j = rank
            while j > 0:
                total -= tree[j]
                j -= j & -j
            j = rank + 1
            while j <= n:
                tree[j] += 1
                j += j & -j
        out[t] = total


@kernel
def _from_skips(skipped, center, out):  # type: ignore[no-untyped-def]
    left = np.empty(center.size, np.int64)
    for t in range(skipped.shape[0]):
        left[:] = center
        for r in range(skipped.shape[1]):
            at = skipped[t, r]
            out[t, r] = left[at]
            for i in range(at, center.size - r - 1):
                left[i] = left[i + 1]


@kernel
def _count_pairs(offsets, items, weight, before):  # type: ignore[no-untyped-def]
    """How often each item stands before each other."""
    n = before.shape[0]
    listed = np.full(n, -1, np.int64)
    for t in range(offsets.size - 1):
        for i in range(offsets[t], offsets[t + 1]):
            listed[items[i]] = t
        for i in range(offsets[t], offsets[t + 1]):
            for j in range(i + 1, offsets[t + 1]):
                before[items[i], items[j]] += weight[t]
            for other in range(n):
                if listed[other] != t:
                    before[items[i], other] += weight[t]


@kernel
def improve(order, before):  # type: ignore[no-untyped-def]
    """Move single items, each to its best place, until no move makes fewer pairs disagree."""
    n = order.size
    improved = True
    while improved:
        improved = False
        for start in range(n):
            item = order[start]
            best = 0.0
            to = start
            for step in (-1, 1):
                change = 0.0
                i = start + step
                while 0 <= i < n:
                    gain = before[item, order[i]] - before[order[i], item]
                    change += gain if step < 0 else -gain
                    if change > best + 1e-9:
                        best = change
                        to = i
                    i += step
            if to != start:
                improved = True
                step = 1 if to > start else -1
                i = start
                while i != to:
                    order[i] = order[i + step]
                    i += step
                order[to] = item
