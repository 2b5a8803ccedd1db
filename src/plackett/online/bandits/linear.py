"""Cascade and position-based bandits with features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.online.bandits.base import Bandit, checked_look, within
from plackett.online.learners.base import Page, checked_clicks, feature_table

__all__ = ["LinearBandit"]


@dataclass(eq=False)
class LinearBandit(Bandit):
    """Attraction is linear in the features; documents are ordered by an upper bound of it or by a draw.

    With A = ridge · I + Σ v² x xᵀ and b = Σ v · click · x over examined documents (v is the probability of examination
    at the rank; 1 down to the first click for cascade users), θ = A⁻¹ b, documents are ordered by

        ucb: θᵀx + width √(xᵀ A⁻¹ x),    thompson: θ̃ᵀx with θ̃ ~ N(θ, width² A⁻¹).

    Parameters
    ----------
    n_features, k
        Features, and documents shown.
    policy
        ``ucb`` or ``thompson``.
    width
        How much to explore.
    look
        Probability that each rank is examined; None for cascade users.
    least
        Bound on exploration: no page has a DCG below this share of that of the order by θᵀx, which is the gain (0 where
        it is negative). ``width`` is halved until a page is good enough. 0 means no bound, 1 no exploration.

    References
    ----------
    Li, Chu, Langford, Schapire: A contextual-bandit approach to personalized news article recommendation. WWW 2010.
    Zong et al.. 2016.
    """

    _changing: ClassVar[tuple[str, ...]] = ("inverse", "b")

    n_features: int
    k: int = 10
    policy: str = "ucb"
    width: float = 0.5
    ridge: float = 1.0
    look: Any = None
    random_state: Any = None
    least: float = 0.0

    def __post_init__(self) -> None:
        choice("policy", self.policy, ("ucb", "thompson"))
        if self.n_features < 1 or self.k < 1 or not self.ridge > 0 or not self.width >= 0:
            raise DataError(
                f"n_features={self.n_features}, k={self.k}, ridge={self.ridge}, width={self.width}: "
                "n_features and k are at least 1, ridge is positive, width is not negative"
            )
        if not 0 <= self.least <= 1:
            raise DataError(f"least={self.least}; give 0 (no limit) to 1 (no exploration)")
        checked_look(self.look, self.k)
        self._rng = np.random.default_rng(self.random_state)
        self.inverse = np.eye(self.n_features) / self.ridge
        self.b = np.zeros(self.n_features)

    @property
    def weights(self) -> np.ndarray:
        """Estimate of θ."""
        return self.inverse @ self.b

    def show(self, X: Any) -> Page:
        """Make a page of the candidates."""
        X = feature_table(X, self.n_features)
        mean = X @ self.weights
        if self.policy == "ucb":
            extra = self.width * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", X, self.inverse, X), 0.0))
        else:
            noise = _factor(self.inverse) @ self._rng.standard_normal(self.n_features)
            extra = self.width * (X @ noise)
        page = within(
            lambda share: np.argsort(-(mean + share * extra), kind="stable")[: self.k],
            np.maximum(mean, 0.0),
            self.least,
        )
        return Page(page)

    def learn(self, X: Any, page: Page, clicks: Any) -> Self:  # type: ignore[override]
        """Learn from the clicks on a page."""
        X = feature_table(X, self.n_features)
        clicked = checked_clicks(page, clicks, len(X))
        if self.look is None:
            end = int(np.argmax(clicked)) + 1 if clicked.any() else clicked.size
            looks = np.ones(end)
        else:
            looks = np.asarray(self.look, np.float64)[: clicked.size]
        for v, row, hit in zip(looks, page.order, clicked, strict=False):
            x = X[row] * v
            turned = self.inverse @ x  # Sherman–Morrison
            self.inverse -= np.outer(turned, turned) / (1 + x @ turned)
            if hit:
                self.b += x
        return self

    def event(self, X: Any, page: Page, clicks: Any) -> dict[str, Any]:  # type: ignore[override]
        """What happened on a page, as plain values for `Journal.record`."""
        return {"X": np.asarray(X, np.float64).tolist()} | super().event(page, clicks)

    def apply(self, event: dict[str, Any]) -> None:
        """Learn from what `event` gave."""
        self.learn(event["X"], *self._page(event))

    def _n_candidates(self, page: Page, event: dict[str, Any]) -> int:
        if "X" not in event:
            raise DataError("not an event of a LinearBandit: no X")
        return len(feature_table(event["X"], self.n_features))

    def predict(self, X: Any) -> np.ndarray:
        """Estimated attraction."""
        return feature_table(X, self.n_features) @ self.weights


def _factor(covariance: np.ndarray) -> np.ndarray:
    """An F with F Fᵀ = covariance, also where rounding (huge features) has left a variance a little below 0."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return vectors * np.sqrt(np.maximum(values, 0.0))
