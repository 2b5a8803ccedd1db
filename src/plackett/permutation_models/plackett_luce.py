"""The Plackett–Luce model: an order is drawn item by item, with probability proportional to strength."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, PlackettWarning
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.log_sum import add_exp
from plackett.permutation_models._base import PermutationModel, also_on_class, as_scores
from plackett.permutation_models._newton import Curvature, maximise
from plackett.permutation_models._orders import Orders, as_orders, as_weights

__all__ = ["PlackettLuce"]

#: Logarithm of the strength of a score.
TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": lambda s: s,
    "linear": np.log,
    "sigmoid": lambda s: -np.logaddexp(0.0, -s),
}


class PlackettLuce(PermutationModel):
    r"""Plackett–Luce model of the orders of some items.

    .. math:: P(\pi \mid s) = \prod_{r} \frac{\varphi(s_{(r)})}{\sum_{u \ge r} \varphi(s_{(u)})}

    with (r) the item at rank r. An order may stop after its first k ranks: then the product has k factors, and the
    other items rank below in any order. With φ = exp, adding a constant to all scores changes nothing; with φ linear,
    multiplying them by a common factor.

    Parameters
    ----------
    scores
        One score per item, if known; `fit` starts from them. None leaves them to `fit`.
    transform
        φ: ``"exp"``, ``"linear"`` (scores must be positive) or ``"sigmoid"``. Scores are fitted with ``"exp"``.
    among
        Which items an order was chosen from: ``"all"``, so that items it lacks rank below, or only those ``"listed"``.
    n_items
        Number of items; by default the largest number in the orders, plus 1.
    prior
        (a, b) of a Gamma prior on every strength :math:`e^s`; (1, 0) is none. Without a prior an estimate exists only
        if every item beats every other along some chain of orders; (2, 1) keeps all scores finite.
    max_iter, tol
        Maximum number of Newton steps, and the largest change of a score at which to stop.

    Attributes
    ----------
    scores_
        One score per item. Without a prior their mean is 0.
    n_iter_
        Newton steps of the fit.

    Notes
    -----
    The log-likelihood is concave in the scores. `fit` maximises it by Newton's method with conjugate gradients: a
    product with the second derivative costs no more than the gradient. The classical minorisation (Hunter 2004) needs
    a number of steps that grows with the square of the length of a chain of items, and stops far from the maximum.

    Examples
    --------
    >>> model = PlackettLuce(np.log([3.0, 1.0, 2.0]))
    >>> model.top_one().round(4).tolist()
    [0.5, 0.1667, 0.3333]
    >>> model.mode().tolist()
    [0, 2, 1]
    >>> PlackettLuce().fit([[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1]])
    <PlackettLuce() fitted to 3 items, best first 0, 1, 2>

    References
    ----------
    Plackett: The analysis of permutations. Applied Statistics 1975. Hunter: MM algorithms for generalized Bradley–Terry
    models. Annals of Statistics 2004.
    """

    model_parameters: ClassVar[tuple[str, ...]] = ("scores",)

    def __init__(
        self,
        scores: Any = None,
        *,
        transform: str = "exp",
        among: str = "all",
        n_items: int | None = None,
        prior: tuple[float, float] = (1.0, 0.0),
        max_iter: int = 200,
        tol: float = 1e-9,
    ) -> None:
        choice("transform", transform, TRANSFORMS)
        self.scores = None if scores is None else as_scores(scores)
        self.transform = transform
        self.among = among
        self._n_items = n_items
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        if self.scores is not None:
            if transform == "linear" and not np.all(self.scores > 0):
                raise DataError("transform='linear' needs positive scores")
            self.scores_ = self.scores.copy()

    @property
    def log_strengths(self) -> np.ndarray:
        """Logarithm of φ(s) of each item."""
        return TRANSFORMS[self.transform](self._fitted("scores_"))

    def log_prob(self, orders: Any, *, among: str | None = None, n_jobs: int | None = None) -> np.ndarray:
        """Log-probability of each order.

        Parameters
        ----------
        orders
            Items best first: a table or a list of lists, complete or only the first ranks.
        among
            As in the constructor; None uses its value.
        """
        strengths = self.log_strengths
        rankings, _ = as_orders(orders, strengths.size)
        everything = _everything(self.among if among is None else among)
        return _log_probs(rankings, strengths, everything, n_jobs)

    def top_one(self) -> np.ndarray:
        """Probability that each item comes first."""
        chances = np.exp(self.log_strengths - self.log_strengths.max(initial=-np.inf))
        return chances / chances.sum()

    def pair_probability(self, first: Any, second: Any) -> np.ndarray:
        """Probability that one item ranks above another (Bradley–Terry)."""
        gap = self.log_strengths[np.asarray(first)] - self.log_strengths[np.asarray(second)]
        return np.exp(-np.logaddexp(0.0, -gap))

    def mode(self, k: int | None = None) -> np.ndarray:
        """The most probable order, or its first k ranks; equal strengths are ordered by item number."""
        return np.argsort(-self.log_strengths, kind="stable")[:k]

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row. Sorts scores with Gumbel noise."""
        rng = np.random.default_rng(random_state)
        noisy = self.log_strengths + rng.gumbel(size=(n, self.n_items))
        return np.argsort(-noisy, axis=1, kind="stable")[:, :k]

    # ---------------------------------------------------------------------------------------------------------- fit

    @also_on_class
    def fit(self, orders: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the most probable scores by Newton's method.

        Parameters
        ----------
        orders
            As in `log_prob`.
        y
            Not used.
        sample_weight
            How often each order counts.
        """
        return self._fit(orders, self._n_items, sample_weight)

    def _fit(self, orders: Any, n_items: int | None, sample_weight: Any) -> Self:
        if self.transform != "exp":
            raise DataError(f"transform={self.transform!r}: scores are fitted with transform='exp' only")
        rankings, n_items = as_orders(orders, n_items)
        weight = as_weights(sample_weight, rankings.n)
        shape, rate = float(self.prior[0]) - 1.0, float(self.prior[1])
        flat = shape == 0 and rate == 0
        if not flat and not (shape > 0 and rate > 0):  # the level of the strengths would diverge
            raise DataError(f"prior={self.prior}; give (a, b) with a > 1 and b > 0, or (1, 0) for none")
        if self.scores is not None and self.scores.size != n_items:
            raise DataError(f"scores has {self.scores.size} numbers to start from, but there are {n_items} items")
        everything = _everything(self.among)
        if flat:
            _check_connected(rankings, weight, n_items, everything)
        likelihood = _Likelihood(rankings, weight, n_items, everything, shape, rate)
        self.scores_, self.n_iter_, moved = maximise(
            likelihood.value,
            likelihood.slope,
            np.zeros(n_items) if self.scores is None else self.scores,
            level_free=flat,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if moved > self.tol:
            warnings.warn(
                f"the fit has not converged after {self.max_iter} steps (last change {moved:.1e}); increase max_iter",
                PlackettWarning,
                stacklevel=3,
            )
        return self


class _Likelihood:
    """Log-likelihood of scores, plus the logarithm of a Gamma prior of the strengths."""

    def __init__(
        self, orders: Orders, weight: np.ndarray, n_items: int, everything: bool, shape: float, rate: float
    ) -> None:
        self.orders, self.weight, self.everything = orders, weight, everything
        self.shape, self.rate = shape, rate
        self.wins = np.empty(n_items)
        _wins(orders.offsets, orders.items, weight, everything, self.wins)
        self.wins += shape

    def value(self, scores: np.ndarray) -> float:
        """The logarithm, up to a constant."""
        prior = 0.0 if self.rate == 0 else self.shape * scores.sum() - self.rate * np.exp(scores).sum()
        return float(self.weight @ _log_probs(self.orders, scores, self.everything, None) + prior)

    def slope(self, scores: np.ndarray) -> tuple[np.ndarray, Curvature]:
        """Gradient and curvature."""
        items, offsets = self.orders
        shares, ratios = np.empty(items.size), np.empty(items.size + self.orders.n)
        _shares(offsets, items, scores, self.everything, shares, ratios)
        common = offsets, items, self.weight, self.everything, scores, shares, ratios
        expected, square = np.zeros(scores.size), np.zeros(scores.size)
        _expected_wins(*common, expected, square)
        prior = self.rate * np.exp(scores) if self.rate else np.zeros(scores.size)

        def times(x: np.ndarray) -> np.ndarray:
            out = prior * x
            _curvature_times(*common, np.ascontiguousarray(x, float), out)
            return out

        return self.wins - expected - prior, Curvature(expected - square + prior, times)


def _log_probs(orders: Orders, log_v: np.ndarray, everything: bool, n_jobs: int | None) -> np.ndarray:
    out = np.empty(orders.n)
    over_queries(_log_prob, orders.offsets, orders.items, log_v, everything, out, n_jobs=n_jobs)
    return out


def _everything(among: str) -> bool:
    choice("among", among, ("all", "listed"))
    return among == "all"


def _check_connected(orders: Orders, weight: np.ndarray, n_items: int, everything: bool) -> None:
    """Reject orders in which some items always rank above all others: their strength would be infinite."""
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
            f"(items {some}, for example): no finite strengths maximise the likelihood; give prior=(2, 1)"
        )


@kernel
def _chains(offsets, items, weight, everything, beats):
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
def _log_prob(lo, hi, offsets, items, log_v, everything, out):
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
            largest, total = add_exp(largest, total, x)
            out[t] += x - largest - np.log(total)


@kernel
def _stages(a, b, n_items, everything):
    """Number of draws of an order that had a choice."""
    return b - a if everything and b - a < n_items else max(b - a - 1, 0)


@kernel
def _wins(offsets, items, weight, everything, wins):
    wins[:] = 0.0
    for t in range(offsets.size - 1):
        a = offsets[t]
        for i in range(a, a + _stages(a, offsets[t + 1], wins.size, everything)):
            wins[items[i]] += weight[t]


@kernel
def _left_over(t, a, n, items, listed, s, x):
    """For the items that an order does not list: the largest score, and Σ e^(s − largest), without x and with it."""
    for i in range(n):
        listed[items[a + i]] = t
    largest = -np.inf
    for j in range(s.size):
        if listed[j] != t:
            largest = max(largest, s[j])
    total = 0.0
    mean = 0.0
    for j in range(s.size):
        if listed[j] != t:
            share = np.exp(s[j] - largest)
            total += share
            mean += share * x[j]
    return largest, total, mean


@kernel
def _shares(offsets, items, s, everything, shares, ratios):
    """Choice probabilities of the draws of each order.

    ``shares`` has the chance of each item in its own draw, ``ratios`` the total strength before each draw as a share
    of that before the one before, and last that of the items which are not listed.
    """
    listed = np.full(s.size, -1, np.int64)
    totals = np.empty(s.size + 1, np.float64)
    for t in range(offsets.size - 1):
        a = offsets[t]
        n = offsets[t + 1] - a
        totals[n] = -np.inf
        if everything and n < s.size:
            largest, total, _ = _left_over(t, a, n, items, listed, s, s)
            totals[n] = largest + np.log(total)
        for i in range(n - 1, -1, -1):
            x = s[items[a + i]]
            high = max(x, totals[i + 1])
            totals[i] = high + np.log1p(np.exp(min(x, totals[i + 1]) - high))
            shares[a + i] = np.exp(x - totals[i])
        ratios[a + t] = 1.0
        for i in range(1, n + 1):
            ratios[a + t + i] = np.exp(totals[i] - totals[i - 1])


@kernel
def _expected_wins(offsets, items, weight, everything, s, shares, ratios, wins, square):
    """Σ over the draws of an item's chance, and of its square."""
    listed = np.full(s.size, -1, np.int64)
    for t in range(offsets.size - 1):
        a = offsets[t]
        n = offsets[t + 1] - a
        stages = _stages(a, a + n, s.size, everything)
        once = 0.0  # Σ over the draws so far of (total strength now / total strength then), and of its square
        twice = 0.0
        for i in range(n):
            ratio = ratios[a + t + i]
            drawn = weight[t] if i < stages else 0.0
            once = once * ratio + drawn
            twice = twice * ratio * ratio + drawn
            share = shares[a + i]
            wins[items[a + i]] += share * once
            square[items[a + i]] += share * share * twice
        if everything and 0 < n < s.size:
            largest, total, _ = _left_over(t, a, n, items, listed, s, s)
            ratio = ratios[a + t + n] / total
            for j in range(s.size):
                if listed[j] != t:
                    share = np.exp(s[j] - largest) * ratio
                    wins[j] += share * once
                    square[j] += share * share * twice


@kernel
def _curvature_times(offsets, items, weight, everything, s, shares, ratios, x, out):
    """Add Σ over the draws of (diag(p) − p pᵀ) x, p the chances in a draw."""
    listed = np.full(s.size, -1, np.int64)
    means = np.empty(s.size + 1, np.float64)  # p · x of each draw
    for t in range(offsets.size - 1):
        a = offsets[t]
        n = offsets[t + 1] - a
        largest = 0.0
        total = 1.0
        means[n] = 0.0
        if everything and 0 < n < s.size:
            largest, total, mean = _left_over(t, a, n, items, listed, s, x)
            means[n] = mean / total
        for i in range(n - 1, -1, -1):
            means[i] = shares[a + i] * x[items[a + i]] + ratios[a + t + i + 1] * means[i + 1]
        stages = _stages(a, a + n, s.size, everything)
        once = 0.0
        with_mean = 0.0
        for i in range(n):
            ratio = ratios[a + t + i]
            drawn = weight[t] if i < stages else 0.0
            once = once * ratio + drawn
            with_mean = with_mean * ratio + drawn * means[i]
            out[items[a + i]] += shares[a + i] * (once * x[items[a + i]] - with_mean)
        if everything and 0 < n < s.size:
            ratio = ratios[a + t + n] / total
            for j in range(s.size):
                if listed[j] != t:
                    out[j] += np.exp(s[j] - largest) * ratio * (once * x[j] - with_mean)
