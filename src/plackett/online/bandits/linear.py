"""Cascade and position-based bandits with features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett.online.learners.base import Page

__all__ = ["LinearBandit"]


@dataclass(eq=False)
class LinearBandit:
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
    """

    _ids: ClassVar[tuple[str, ...]] = ("online.rerank",)
    paper: ClassVar[str] = "Li, Chu, Langford, Schapire 2010; Zong et al. 2016"

    n_features: int
    k: int = 10
    policy: str = "ucb"
    width: float = 0.5
    ridge: float = 1.0
    look: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        if self.policy not in ("ucb", "thompson"):
            raise DataError(f"policy={self.policy!r}; give 'ucb' or 'thompson'")
        if self.n_features < 1 or self.k < 1 or not self.ridge > 0 or self.width < 0:
            raise DataError(
                f"n_features={self.n_features}, k={self.k}, ridge={self.ridge}, width={self.width}: "
                "n_features and k are at least 1, ridge is positive, width is not negative"
            )
        self._rng = np.random.default_rng(self.random_state)
        self.inverse = np.eye(self.n_features) / self.ridge
        self.b = np.zeros(self.n_features)

    @property
    def weights(self) -> np.ndarray:
        """Estimate of θ."""
        return self.inverse @ self.b

    def show(self, X: Any) -> Page:
        """Make a page of the candidates."""
        X = self._checked(X)
        if self.policy == "ucb":
            index = X @ self.weights + self.width * np.sqrt(np.einsum("ij,jk,ik->i", X, self.inverse, X))
        else:
            index = X @ self._rng.multivariate_normal(self.weights, self.width**2 * self.inverse, method="cholesky")
        return Page(np.argsort(-index, kind="stable")[: self.k])

    def learn(self, X: Any, page: Page, clicks: Any) -> Self:
        """Learn from the clicks on a page."""
        X = self._checked(X)
        clicked = np.asarray(clicks, bool)
        if clicked.size != page.order.size:
            raise DataError(f"clicks has {clicked.size} values, the page has {page.order.size} documents")
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

    def predict(self, X: Any) -> np.ndarray:
        """Estimated attraction."""
        return self._checked(X) @ self.weights

    def _checked(self, X: Any) -> np.ndarray:
        X = np.asarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise DataError(f"X has shape {X.shape}; rows of {self.n_features} features were expected")
        return X
