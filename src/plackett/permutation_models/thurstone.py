"""The Thurstone–Mosteller model of comparisons."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett.permutation_models._orders import as_pairs

__all__ = ["Thurstone"]


class Thurstone:
    r"""Thurstone's model, case V: every item has a normal score, and the larger draw wins.

    .. math:: P(u \succ v) = \Phi\Big(\frac{s_u - s_v}{\sqrt 2\,\sigma}\Big)

    It is the contest of SoftRank. An order of several items sorts one draw of each.

    Parameters
    ----------
    scores
        Mean score of each item.
    sigma
        Standard deviation of a draw.

    Examples
    --------
    >>> model = Thurstone([0.0, 1.0])
    >>> round(float(model.pair_probability(1, 0)), 4)  # Φ(1/√2)
    0.7602
    >>> Thurstone.fit_wins([[0, 24], [76, 0]]).mode().tolist()
    [1, 0]

    References
    ----------
    Thurstone: A law of comparative judgment. Psychological Review 1927. Mosteller: Remarks on the method of paired
    comparisons. Psychometrika 1951.
    """

    ids: ClassVar[tuple[str, ...]] = ("perm.pair_models",)
    paper: ClassVar[str] = "Thurstone 1927"

    def __init__(self, scores: Any, *, sigma: float = 1.0) -> None:
        self.scores = np.array(scores, float)
        self.sigma = float(sigma)
        if self.scores.ndim != 1 or not np.isfinite(self.scores).all():
            raise DataError("scores must be one finite number per item")
        if not self.sigma > 0:
            raise DataError(f"sigma={sigma}; give a positive number")

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.scores.size

    def pair_probability(self, first: Any, second: Any) -> np.ndarray:
        """Probability that one item stands above another."""
        from scipy.special import ndtr

        gap = self.scores[np.asarray(first)] - self.scores[np.asarray(second)]
        return ndtr(gap / (np.sqrt(2.0) * self.sigma))

    def mode(self, k: int | None = None) -> np.ndarray:
        """The order by mean score, or its first k ranks; equal scores by number."""
        return np.argsort(-self.scores, kind="stable")[:k]

    def sample(self, n: int, k: int | None = None, *, random_state: Any = None) -> np.ndarray:
        """Draw orders, or their first k ranks: one per row."""
        rng = np.random.default_rng(random_state)
        noisy = self.scores + self.sigma * rng.normal(size=(n, self.n_items))
        return np.argsort(-noisy, axis=1, kind="stable")[:, :k]

    def log_likelihood(self, wins: Any) -> float:
        """Log-probability of a square table: how often the item of the row beat that of the column."""
        from scipy.special import log_ndtr

        pairs, counts, _ = as_pairs(wins)
        gap = self.scores[pairs[:, 0]] - self.scores[pairs[:, 1]]
        return float(counts @ log_ndtr(gap / (np.sqrt(2.0) * self.sigma)))

    @classmethod
    def fit_wins(cls, wins: Any, *, sigma: float = 1.0, alpha: float = 1e-6, tol: float = 1e-9) -> Self:
        """Most probable scores from a table of comparisons, by quasi-Newton steps on a concave function.

        Parameters
        ----------
        wins
            Square table: how often the item of the row beat that of the column.
        sigma
            Standard deviation of a draw; it only sets the unit of the scores.
        alpha
            Strength of a normal prior, α/2 · Σ (s/σ)²: it keeps items that never lose at finite scores.
        tol
            Largest slope at which to end, per comparison.
        """
        from scipy.optimize import minimize
        from scipy.special import log_ndtr

        pairs, counts, n_items = as_pairs(wins)
        first, second = pairs.T
        total = max(counts.sum(), 1.0)

        def objective(s: np.ndarray) -> tuple[float, np.ndarray]:
            z = (s[first] - s[second]) / np.sqrt(2.0)
            log_p = log_ndtr(z)
            slope = counts * np.exp(-0.5 * z * z - log_p) / np.sqrt(2.0 * np.pi) / np.sqrt(2.0)
            gradient = np.bincount(second, slope, n_items) - np.bincount(first, slope, n_items)
            return (0.5 * alpha * (s @ s) - counts @ log_p) / total, (alpha * s + gradient) / total

        options = {"gtol": tol, "ftol": 1e-15, "maxiter": 1000}
        found = minimize(objective, np.zeros(n_items), jac=True, method="L-BFGS-B", options=options)
        return cls((found.x - found.x.mean()) * sigma, sigma=sigma)
