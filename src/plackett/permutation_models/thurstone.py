"""The Thurstone–Mosteller model of comparisons."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError, PlackettWarning
from plackett.permutation_models._base import PermutationModel, also_on_class, as_scores
from plackett.permutation_models._newton import Curvature, maximise
from plackett.permutation_models._orders import as_orders, as_pairs, as_weights

__all__ = ["Thurstone"]


class Thurstone(PermutationModel):
    r"""Thurstone's model, case V: every item has a normal score, and the larger draw wins.

    .. math:: P(u \succ v) = \Phi\Big(\frac{s_u - s_v}{\sqrt 2\,\sigma}\Big)

    This is SoftRank's pairwise contest. An order of several items sorts one draw of each. `fit` takes pairs (winner,
    loser), `fit_wins` a table of counts.

    Parameters
    ----------
    scores
        Mean score of each item, if known; `fit` starts from them. None leaves them to `fit`.
    sigma
        Standard deviation of a draw; in a fit it only sets the unit of the scores.
    n_items
        Number of items; by default the largest number in the pairs, plus 1.
    alpha
        Strength of a normal prior, α/2 · Σ (s/σ)²: it keeps items that never lose at finite scores.
    max_iter, tol
        Maximum number of Newton steps, and the largest change of a score, in units of σ, at which to stop.

    Attributes
    ----------
    scores_
        Mean score of each item; their mean is 0.
    n_iter_
        Newton steps of the fit.

    Examples
    --------
    >>> model = Thurstone([0.0, 1.0])
    >>> round(float(model.pair_probability(1, 0)), 4)  # Φ(1/√2)
    0.7602
    >>> Thurstone().fit_wins([[0, 24], [76, 0]])
    <Thurstone() fitted to 2 items, best first 1, 0>

    References
    ----------
    Thurstone: A law of comparative judgment. Psychological Review 1927. Mosteller: Remarks on the method of paired
    comparisons. Psychometrika 1951.
    """

    model_parameters: ClassVar[tuple[str, ...]] = ("scores",)

    def __init__(
        self,
        scores: Any = None,
        *,
        sigma: float = 1.0,
        n_items: int | None = None,
        alpha: float = 1e-6,
        max_iter: int = 200,
        tol: float = 1e-9,
    ) -> None:
        number("sigma", sigma, above=0)
        self.scores = None if scores is None else as_scores(scores)
        self.sigma = sigma
        self._n_items = n_items
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        if self.scores is not None:
            self.scores_ = self.scores.copy()

    def pair_probability(self, first: Any, second: Any) -> np.ndarray:
        """Probability that one item ranks above another."""
        from scipy.special import ndtr

        return ndtr(self._gap(np.asarray(first), np.asarray(second)))

    def _gap(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        scores = self._fitted("scores_")
        return (scores[first] - scores[second]) / (np.sqrt(2.0) * self.sigma)

    def mode(self, k: int | None = None) -> np.ndarray:
        """The order by mean score, or its first k ranks; equal scores are ordered by item number."""
        return np.argsort(-self._fitted("scores_"), kind="stable")[:k]

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row."""
        rng = np.random.default_rng(random_state)
        scores = self._fitted("scores_")
        noisy = scores + self.sigma * rng.normal(size=(n, scores.size))
        return np.argsort(-noisy, axis=1, kind="stable")[:, :k]

    def log_prob(self, orders: Any) -> np.ndarray:
        """Log-probability of each pair (winner, loser). Longer orders have no closed form."""
        from scipy.special import log_ndtr

        first, second = _pairs(orders, self._fitted("scores_").size)[0].T
        return log_ndtr(self._gap(first, second))

    def log_likelihood(self, wins: Any) -> float:
        """Log-probability of a square table: how often the item of the row beat that of the column."""
        pairs, counts, _ = as_pairs(wins)
        return float(counts @ self.log_prob(pairs))

    @also_on_class
    def fit(self, orders: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the most probable scores to pairs (winner, loser), by Newton's method on a concave function.

        Parameters
        ----------
        orders
            One pair per row.
        y
            Not used.
        sample_weight
            How often each pair counts.
        """
        pairs, n_items = _pairs(orders, self._n_items)
        return self._fit(pairs, as_weights(sample_weight, len(pairs)), n_items)

    @also_on_class
    def fit_wins(self, wins: Any) -> Self:
        """Most probable scores from a square table: how often the item of the row beat that of the column."""
        return self._fit(*as_pairs(wins))

    def _fit(self, pairs: np.ndarray, counts: np.ndarray, n_items: int) -> Self:
        from scipy.special import log_ndtr

        number("alpha", self.alpha, least=0)
        if self.scores is not None and self.scores.size != n_items:
            raise DataError(f"scores has {self.scores.size} numbers to start from, but there are {n_items} items")
        first, second = pairs.T
        root = np.sqrt(2.0)

        def value(s: np.ndarray) -> float:
            return float(counts @ log_ndtr((s[first] - s[second]) / root) - 0.5 * self.alpha * (s @ s))

        def slope(s: np.ndarray) -> tuple[np.ndarray, Curvature]:
            z = (s[first] - s[second]) / root
            hazard = np.exp(-0.5 * z * z - log_ndtr(z)) / np.sqrt(2.0 * np.pi)  # φ/Φ
            pull, bend = counts * hazard / root, 0.5 * counts * hazard * np.maximum(hazard + z, 0.0)

            def times(x: np.ndarray) -> np.ndarray:
                return self.alpha * x + _difference(first, second, bend * (x[first] - x[second]), n_items)

            diagonal = self.alpha + np.bincount(first, bend, n_items) + np.bincount(second, bend, n_items)
            return _difference(first, second, pull, n_items) - self.alpha * s, Curvature(diagonal, times)

        start = np.zeros(n_items) if self.scores is None else self.scores / self.sigma
        scores, self.n_iter_, moved = maximise(
            value, slope, start, level_free=True, max_iter=self.max_iter, tol=self.tol
        )
        self.scores_ = scores * self.sigma
        if moved > self.tol:
            warnings.warn(
                f"the fit has not converged after {self.max_iter} steps (last change {moved:.1e}); "
                "increase max_iter or alpha",
                PlackettWarning,
                stacklevel=3,
            )
        return self


def _difference(first: np.ndarray, second: np.ndarray, amount: np.ndarray, n: int) -> np.ndarray:
    """Add the values of pairs to their first items and subtract them from their second."""
    return np.bincount(first, amount, n) - np.bincount(second, amount, n)


def _pairs(orders: Any, n_items: int | None) -> tuple[np.ndarray, int]:
    rankings, n_items = as_orders(orders, n_items)
    for bad in np.flatnonzero(np.diff(rankings.offsets) != 2)[:1]:
        raise DataError(
            f"order {bad} has {np.diff(rankings.offsets)[bad]} items; Thurstone takes pairs (winner, loser)"
        )
    return rankings.items.reshape(-1, 2), n_items
