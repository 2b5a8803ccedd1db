"""What the learners share: they show a page, and learn from the clicks on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError

__all__ = ["LinearLearner", "Page"]


@dataclass(frozen=True, eq=False)
class Page:
    """A page that a learner made.

    Attributes
    ----------
    order
        Rows of the candidates, from the top.
    detail
        What the learner needs to know about the page when the clicks arrive; plain numbers.
    """

    order: np.ndarray
    detail: Any = None


@dataclass(eq=False)
class LinearLearner:
    """A linear model that learns from clicks; the base of the others.

    Parameters
    ----------
    n_features
        Number of features; they should be of similar size, for instance between 0 and 1 within each query.
    learning_rate
        Length of a step.
    k
        Documents shown.
    least
        Bound on exploration: no page has an nDCG below this by the current model (gains 1 / (1 + e^−score) of scores
        centred on the candidates). 0 is no bound, 1 shows the current order always.
    random_state
        Seed.
    """

    _ids: ClassVar[tuple[str, ...]] = ()
    _show: ClassVar[Any]
    _learn: ClassVar[Any]

    n_features: int
    learning_rate: float = 0.1
    k: int = 10
    least: float = 0.0
    random_state: int = 0
    weights: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.n_features < 1 or self.k < 1 or not self.learning_rate > 0 or not 0 <= self.least <= 1:
            raise DataError(
                f"n_features={self.n_features}, k={self.k}, learning_rate={self.learning_rate}, least={self.least}: "
                "n_features and k are at least 1, the learning rate is positive, least is between 0 and 1"
            )
        self.weights = np.zeros(self.n_features)
        self._state = np.array([np.uint64(self.random_state % 2**63)], np.uint64)
        self._memory = self.new_memory()

    # -- what a learner is made of, for the simulator
    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read: learning rate, bound, and the learner's own."""
        return np.array([self.learning_rate, self.least], np.float64)

    def new_memory(self) -> np.ndarray:
        """What the kernels keep from page to page, one row of features each."""
        return np.zeros((1, self.n_features))

    # -- live use
    def show(self, X: Any) -> Page:
        """Make a page of the candidates."""
        X = self._checked(X)
        n = len(X)
        order, team = np.empty(max(self.k, 1), np.int64), np.zeros(max(self.k, 1), np.int64)
        size = self._show(
            self.weights, self._memory, X, np.arange(n), n, self.k, self.parameters(), self._state,
            np.empty((6, max(n, 1))), order, team,
        )  # fmt: skip
        return Page(order[:size].copy(), self._detail(team[:size]))

    def learn(self, X: Any, page: Page, clicks: Any) -> Self:
        """Learn from the clicks on a page: one value per document shown, true if it was clicked."""
        X = self._checked(X)
        clicked = np.asarray(clicks, bool).ravel()
        size = page.order.size
        if clicked.size != size:
            raise DataError(f"clicks has {clicked.size} values, the page has {size} documents")
        if size and (page.order.min() < 0 or page.order.max() >= len(X)):
            raise DataError(f"the page has document {int(page.order.max())}, but X has {len(X)} rows")
        team = self._use(page.detail, size)
        if clicked.any():
            n = len(X)
            self._learn(
                self.weights, self._memory, X, np.arange(n), n, size, self.parameters(), self._state,
                np.empty((6, max(n, 1))), page.order, team, clicked,
            )  # fmt: skip
        return self

    def event(self, X: Any, page: Page, clicks: Any) -> dict[str, Any]:
        """What happened on a page, as plain values for `Journal.record`."""
        return {
            "X": np.asarray(X, np.float64).tolist(),
            "order": page.order.tolist(),
            "detail": page.detail,
            "clicks": np.asarray(clicks, bool).tolist(),
        }

    def apply(self, event: dict[str, Any]) -> None:
        """Learn from what `event` gave."""
        self.learn(event["X"], Page(np.array(event["order"], np.int64), event["detail"]), event["clicks"])

    def predict(self, X: Any) -> np.ndarray:
        """Scores, higher is better."""
        return self._checked(X) @ self.weights

    def _detail(self, team: np.ndarray) -> Any:
        return None

    def _use(self, detail: Any, size: int) -> np.ndarray:
        return np.zeros(size, np.int64)

    def _checked(self, X: Any) -> np.ndarray:
        X = np.ascontiguousarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise DataError(f"X has shape {X.shape}; rows of {self.n_features} features were expected")
        if not np.isfinite(X).all():
            raise DataError("X has missing or infinite values; impute them first")
        return X

    # -- what `Journal` keeps
    def state(self) -> dict[str, Any]:
        """All that changes, as plain values."""
        return {
            "weights": self.weights.tolist(),
            "memory": self._memory.tolist(),
            "random": int(self._state[0]),
        }

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what `state` gave."""
        weights, memory = np.array(state["weights"], np.float64), np.array(state["memory"], np.float64)
        if weights.shape != self.weights.shape or memory.shape != self._memory.shape:
            raise DataError(f"the state is that of another learner: {weights.size} features, not {self.n_features}")
        self.weights, self._memory = weights, memory
        self._state = np.array([state["random"]], np.uint64)
        return self
