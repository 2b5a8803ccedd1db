"""The Plackett–Luce model: an order is drawn item by item, each in proportion to its strength."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError, PlackettWarning
from plackett._kernel import kernel, over_queries
from plackett.permutation_models._orders import Orders, as_orders, as_weights

__all__ = ["PlackettLuce"]

#: Logarithm of the strength of a score.
TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": lambda s: s,
    "linear": np.log,
    "sigmoid": lambda s: -np.logaddexp(0.0, -s),
}


class PlackettLuce:
    r"""Plackett–Luce model of the orders of some items.

    .. math:: P(\pi \mid s) = \prod_{r} \frac{\varphi(s_{(r)})}{\sum_{u \ge r} \varphi(s_{(u)})}

    with (r) the item at rank r. An order may stop after its first k ranks: then the product has k factors, and the
    other items stand below in any order. With φ = exp a constant added to all scores changes nothing, with φ linear a
    common factor.

    Parameters
    ----------
    scores
        One score per item.
    transform
        φ: ``"exp"``, ``"linear"`` (scores must be positive) or ``"sigmoid"``.

    Examples
    --------
    >>> model = PlackettLuce(np.log([3.0, 1.0, 2.0]))
    >>> model.top_one().round(4).tolist()
    [0.5, 0.1667, 0.3333]
    >>> model.mode().tolist()
    [0, 2, 1]
    >>> round(float(np.exp(model.log_prob([[0, 2, 1]])[0])), 4)  # 3/6 · 2/3
    0.3333
    >>> fitted = PlackettLuce.fit([[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1]])
    >>> fitted.mode().tolist()[0]
    0

    References
    ----------
    Plackett: The analysis of permutations. Applied Statistics 1975. Hunter: MM algorithms for generalized Bradley–Terry
    models. Annals of Statistics 2004.
    """

    ids: ClassVar[tuple[str, ...]] = ("perm.plackett_luce", "listwise.listmle_gamma")
    paper: ClassVar[str] = "Plackett 1975"

    def __init__(self, scores: Any, *, transform: str = "exp") -> None:
        self.scores = np.array(scores, float)
        self.transform = transform
        if self.scores.ndim != 1 or not np.isfinite(self.scores).all():
            raise DataError("scores must be one finite number per item")
        if transform not in TRANSFORMS:
            raise DataError(f"transform={transform!r}; the transforms are {', '.join(TRANSFORMS)}")
        if transform == "linear" and not (self.scores > 0).all():
            raise DataError("transform='linear' needs positive scores")
        self.log_strengths = TRANSFORMS[transform](self.scores)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.scores.size

    def log_prob(self, orders: Any, *, among: str = "all", n_jobs: int | None = None) -> np.ndarray:
        """Log-probability of each order.

        Parameters
        ----------
        orders
            Items best first: a table or a list of lists, complete or only the first ranks.
        among
            What an order was made among: ``"all"`` items, so that those it lacks stand below, or those ``"listed"``.
        """
        found, _ = as_orders(orders, self.n_items)
        out = np.empty(found.n)
        over_queries(_log_prob, found.offsets, found.items, self.log_strengths, _everything(among), out, n_jobs=n_jobs)
        return out

    def top_one(self) -> np.ndarray:
        """Probability of each item to come first."""
        chances = np.exp(self.log_strengths - self.log_strengths.max(initial=-np.inf))
        return chances / chances.sum()

    def pair_probability(self, first: Any, second: Any) -> np.ndarray:
        """Probability that one item stands above another (Bradley–Terry)."""
        gap = self.log_strengths[np.asarray(first)] - self.log_strengths[np.asarray(second)]
        return np.exp(-np.logaddexp(0.0, -gap))

    def mode(self, k: int | None = None) -> np.ndarray:
        """The most probable order, or its first k ranks; equal strengths by number."""
        return np.argsort(-self.log_strengths, kind="stable")[:k]

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row. Scores with Gumbel noise, sorted."""
        rng = np.random.default_rng(random_state)
        noisy = self.log_strengths + rng.gumbel(size=(n, self.n_items))
        return np.argsort(-noisy, axis=1, kind="stable")[:, :k]

    # ---------------------------------------------------------------------------------------------------------- fit

    @classmethod
    def fit(
        cls,
        orders: Any,
        *,
        n_items: int | None = None,
        among: str = "all",
        weights: Any = None,
        prior: tuple[float, float] = (1.0, 0.0),
        max_iter: int = 10_000,
        tol: float = 1e-9,
    ) -> Self:
        r"""Most probable strengths, by minorisation and maximisation.

        .. math:: v_j \leftarrow \frac{a - 1 + \text{wins}_j}{b + \sum_{\text{stages with } j} 1 / \sum v}

        Each step raises the likelihood, or with a prior the posterior.

        Parameters
        ----------
        orders, among
            As in `log_prob`.
        n_items
            Number of items; the largest number in the orders, plus 1, without it.
        weights
            How often each order counts.
        prior
            (a, b) of a Gamma prior of every strength; (1, 0) is none. Without a prior there is an estimate only if
            every item beats every other along some chain of orders; (2, 1) keeps all strengths finite and positive.
        max_iter, tol
            Most steps, and the largest change of a log-strength at which to end.
        """
        found, n_items = as_orders(orders, n_items)
        weight = as_weights(weights, found.n)
        shape, rate = float(prior[0]) - 1.0, float(prior[1])
        flat = shape == 0 and rate == 0
        if not flat and not (shape > 0 and rate > 0):  # the level of the strengths would run away
            raise DataError(f"prior={prior}; give (a, b) with a > 1 and b > 0, or (1, 0) for none")
        everything = _everything(among)
        if flat:
            _check_connected(found, weight, n_items, everything)
        wins = np.empty(n_items)
        _wins(found.offsets, found.items, weight, everything, wins)
        scores = np.zeros(n_items)
        exposure = np.empty(n_items)
        for _ in range(max_iter):
            strengths = np.exp(scores)
            _exposure(found.offsets, found.items, weight, everything, strengths, exposure)
            updated = np.log((shape + wins) / (rate + exposure))
            if flat:  # the level is free
                updated -= updated.mean()
            else:  # the best level, which small steps would be long in finding
                updated += np.log(shape * n_items / (rate * np.exp(updated).sum()))
            moved = np.abs(updated - scores).max(initial=0.0)
            scores = updated
            if moved <= tol:
                break
        else:
            warnings.warn(
                f"the fit has not settled after {max_iter} steps (last change {moved:.1e}); give a larger max_iter",
                PlackettWarning,
                stacklevel=2,
            )
        return cls(scores)


def _everything(among: str) -> bool:
    if among not in ("all", "listed"):
        raise DataError(f"among={among!r}; give 'all' or 'listed'")
    return among == "all"


def _check_connected(orders: Orders, weight: np.ndarray, n_items: int, everything: bool) -> None:
    """Refuse orders in which some items always stand above all others: their strength would be infinite."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    beats = np.zeros((n_items, n_items), bool)
    _chains(orders.offsets, orders.items, weight, everything, beats)
    graph = coo_matrix(beats)
    parts, part = connected_components(graph, directed=True, connection="strong")
    if parts > 1:
        sizes = np.bincount(part)
        some = np.flatnonzero(part == sizes.argmin())[:5].tolist()
        raise DataError(
            f"the orders fall into {parts} groups of items of which some never beat, or never lose to, the others "
            f"(items {some}, for example): no finite strengths fit best; give prior=(2, 1)"
        )


@kernel
def _chains(offsets, items, weight, everything, beats):  # type: ignore[no-untyped-def]
    """Each item beats the next one, and the last one those that are not listed: the others follow."""
    n = beats.shape[0]
    listed = np.full(n, -1, np.int64)
    for t in range(offsets.size - 1):
        if weight[t] == 0.0 or offsets[t] == offsets[t + 1]:
            continue
        for i in range(offsets[t], offsets[t + 1]):
            listed[items[i]] = t
            if i + 1 < offsets[t + 1]:
                beats[items[i], items[i + 1]] = True
            elif everything:
                for j in range(n):
                    beats[items[i], j] |= listed[j] != t


@kernel
def _log_prob(lo, hi, offsets, items, log_v, everything, out):  # type: ignore[no-untyped-def]
    """Reverse log-cumsum-exp along each order, begun with the items that it does not list."""
    listed = np.full(log_v.size, -1, np.int64)
    for t in range(lo, hi):
        a = offsets[t]
        b = offsets[t + 1]
        largest = -np.inf
        total = 0.0
        if everything and b - a < log_v.size:
            for i in range(a, b):
                listed[items[i]] = t
            for j in range(log_v.size):
                if listed[j] != t:
                    largest = max(largest, log_v[j])
            for j in range(log_v.size):
                if listed[j] != t:
                    total += np.exp(log_v[j] - largest)
        out[t] = 0.0
        for i in range(b - 1, a - 1, -1):
            x = log_v[items[i]]
            if x <= largest:
                total += np.exp(x - largest)
            else:
                total = total * np.exp(largest - x) + 1.0
                largest = x
            out[t] += x - largest - np.log(total)


@kernel
def _stages(a, b, n_items, everything):  # type: ignore[no-untyped-def]
    """Number of draws of an order in which there was a choice."""
    return b - a if everything and b - a < n_items else max(b - a - 1, 0)


@kernel
def _wins(offsets, items, weight, everything, wins):  # type: ignore[no-untyped-def]
    wins[:] = 0.0
    for t in range(offsets.size - 1):
        a = offsets[t]
        for i in range(a, a + _stages(a, offsets[t + 1], wins.size, everything)):
            wins[items[i]] += weight[t]


@kernel
def _exposure(offsets, items, weight, everything, v, out):  # type: ignore[no-untyped-def]
    """Σ over the draws that an item took part in of 1/(strength of all that did)."""
    out[:] = 0.0
    every = 0.0  # what each item that is not listed has from all orders
    listed = np.full(v.size, -1, np.int64)
    rest = np.empty(v.size + 1, np.float64)
    for t in range(offsets.size - 1):
        a = offsets[t]
        n = offsets[t + 1] - a
        rest[n] = 0.0
        if everything and n < v.size:
            for i in range(n):
                listed[items[a + i]] = t
            for j in range(v.size):
                if listed[j] != t:
                    rest[n] += v[j]
        for i in range(n - 1, -1, -1):
            rest[i] = rest[i + 1] + v[items[a + i]]
        stages = _stages(a, a + n, v.size, everything)
        so_far = 0.0
        for i in range(n):
            if i < stages:
                so_far += weight[t] / rest[i]
            out[items[a + i]] += so_far
        if everything and n < v.size:
            every += so_far
            for i in range(n):
                out[items[a + i]] -= so_far
    for j in range(v.size):
        out[j] += every
