"""The Mallows model: the more pairs an order inverts, the less probable it is."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.permutation_models._base import PermutationModel, also_on_class
from plackett.permutation_models._orders import Orders, as_orders, as_weights
from plackett.permutation_models.kendall import fit_theta, log_sizes, mean_skips
from plackett.permutation_models.moves import MOST_PASSES, improve

__all__ = ["Mallows"]


class Mallows(PermutationModel):
    r"""Mallows model of the orders of m items.

    .. math:: P(\pi) = \frac{e^{-\theta\, d(\pi, \pi_0)}}{Z}, \qquad
              Z = \prod_{i=1}^{m} \frac{1 - e^{-i \theta}}{1 - e^{-\theta}}

    with d the number of pairs in a different order than in the centre :math:`\pi_0`. An order is a chain of draws
    without replacement, each of which skips :math:`V_r` of the remaining items of the centre, with
    :math:`P(V_r = v) \propto e^{-\theta v}` independently; so the first k ranks have a closed form too.

    Parameters
    ----------
    center
        The most probable order, best item first, if known; None leaves it to `fit`.
    theta
        Concentration θ ≥ 0, if known; 0 is uniform, None leaves it to `fit`.
    n_items
        Number of items; by default the largest number in the orders, plus 1.

    Attributes
    ----------
    center_, theta_
        The centre and the concentration: those given, or those of the fit.

    Notes
    -----
    The fitted centre is Borda's order, improved by moving one item at a time as long as fewer pairs disagree, for at
    most 100 passes over the items (a local optimum: the best centre, Kemeny's, is NP-hard to find). θ is the one whose
    expected distance is the mean of those observed, at most 40.

    Examples
    --------
    >>> model = Mallows([0, 1, 2], theta=np.log(2.0))
    >>> np.exp(model.log_prob([[0, 1, 2], [2, 1, 0]])).round(4).tolist()  # 1/Z and 1/8Z with Z = 1 · 1.5 · 1.75
    [0.381, 0.0476]
    >>> Mallows().fit([[0, 1, 2], [0, 1, 2], [1, 0, 2]])
    <Mallows() fitted to 3 items, best first 0, 1, 2>

    References
    ----------
    Mallows: Non-null ranking models. Biometrika 1957. Fligner, Verducci: Distance based ranking models. Journal of the
    Royal Statistical Society B 1986.
    """

    model_parameters: ClassVar[tuple[str, ...]] = ("center", "theta")

    def __init__(self, center: Any = None, theta: float | None = None, *, n_items: int | None = None) -> None:
        number_or_none("theta", theta, least=0)
        self.center = None if center is None else _as_center(center)
        self.theta = theta
        self._n_items = n_items
        if self.center is not None and theta is not None:
            self.center_, self.theta_ = self.center.copy(), float(theta)

    def distance(self, orders: Any) -> np.ndarray:
        """Number of pairs that each order and the centre have in opposite order.

        For a partial order, this counts pairs within it, and pairs of its items with those below.
        """
        return self._distances(as_orders(orders, self._fitted("center_").size)[0])

    def _distances(self, orders: Orders) -> np.ndarray:
        out = np.empty(orders.n)
        over_queries(_distance, orders.offsets, orders.items, _ranks(self.center_), out)
        return out

    def _sizes(self, k: int | None = None) -> np.ndarray:
        """Number of items that each rank is drawn from."""
        return np.arange(self._fitted("center_").size, 0, -1)[:k]

    def log_normaliser(self, k: int | None = None) -> float:
        """The logarithm of Z, or of its part for the first k ranks."""
        return float(log_sizes(self._sizes(k), self._fitted("theta_")).sum())

    def log_prob(self, orders: Any) -> np.ndarray:
        """Log-probability of each order, complete or only its first ranks."""
        theta = self._fitted("theta_")
        given, _ = as_orders(orders, self._fitted("center_").size)
        parts = np.concatenate(([0.0], np.cumsum(log_sizes(self._sizes(), theta))))
        return -theta * self._distances(given) - parts[np.diff(given.offsets)]

    def mean_distance(self, k: int | None = None) -> float:
        """Expected distance of a draw, or of its first k ranks."""
        return float(mean_skips(self._fitted("theta_"), self._sizes(k)).sum())

    def mode(self, k: int | None = None) -> np.ndarray:
        """The centre, or its first k ranks."""
        return self._fitted("center_")[:k].copy()

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row."""
        rng = np.random.default_rng(random_state)
        theta, sizes = self._fitted("theta_"), self._sizes(k)
        u = rng.random((n, sizes.size))
        if theta == 0:
            skipped = np.floor(u * sizes)
        else:  # the inverse of the distribution function of V, exact for small θ too
            skipped = np.floor(-np.log1p(u * np.expm1(-theta * sizes)) / theta)
        out = np.empty((n, sizes.size), np.int64)
        _from_skips(np.minimum(skipped, sizes - 1).astype(np.int64), self.center_, out)
        return out

    @also_on_class
    def fit(self, orders: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the most probable centre and θ; values given to the constructor stay fixed.

        Parameters
        ----------
        orders
            Items best first, complete or only the first ranks; items that are not listed rank below.
        y
            Not used.
        sample_weight
            How often each order counts.
        """
        n_items = self._n_items if self.center is None else self.center.size
        given, n_items = as_orders(orders, n_items)
        weight = as_weights(sample_weight, given.n)
        if self.center is None:
            before = np.zeros((n_items, n_items))
            _count_pairs(given.offsets, given.items, weight, before)
            center = np.argsort(before.sum(axis=0) - before.sum(axis=1), kind="stable")
            improve(center, before, MOST_PASSES)
        else:
            center = self.center.copy()
        self.center_ = center
        if self.theta is not None:
            self.theta_ = float(self.theta)
            return self
        lengths = np.diff(given.offsets)
        distance = float(weight @ self._distances(given))
        share = np.bincount(lengths, weight, n_items + 1)[::-1].cumsum()[::-1][1:]  # orders that have rank r
        self.theta_ = fit_theta(distance, np.arange(n_items, 0, -1), share)
        return self


def _as_center(center: Any) -> np.ndarray:
    """An order of all items; an integer array stays the same object, as scikit-learn's `clone` requires."""
    order = np.asarray(center)
    given, n_items = as_orders([order])
    if given.items.size != n_items:
        raise DataError(f"center must contain all items 0 to {n_items - 1}")
    return order if order.dtype == np.int64 else given.items


def _ranks(order: np.ndarray) -> np.ndarray:
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


@kernel
def _distance(lo, hi, offsets, items, ranks, out):
    """Σ over the ranks of how many items that come later, or not at all, come earlier in the centre."""
    n = ranks.size
    tree = np.empty(n + 1, np.int64)  # Fenwick tree: which ranks of the centre were visited
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
def _from_skips(skipped, center, out):
    left = np.empty(center.size, np.int64)
    for t in range(skipped.shape[0]):
        left[:] = center
        for r in range(skipped.shape[1]):
            at = skipped[t, r]
            out[t, r] = left[at]
            for i in range(at, center.size - r - 1):
                left[i] = left[i + 1]


@kernel
def _count_pairs(offsets, items, weight, before):
    """How often each item comes before each other one."""
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
