"""What the learners share: they show a page, and learn from the clicks on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.online._lists import scores_of

__all__ = ["OnlineLearner"]


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


def feature_table(X: Any, n_features: int) -> np.ndarray:
    """The features of a page as numbers, checked."""
    try:
        X = np.asarray(X, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"X is not a table of numbers: {error}") from None
    if X.ndim != 2 or X.shape[1] != n_features:
        raise DataError(f"X has shape {X.shape}; rows of {n_features} features were expected")
    if not np.isfinite(X).all():
        raise DataError("X has missing or infinite values; impute them first")
    return X


def checked_clicks(page: Page, clicks: Any, n: int) -> np.ndarray:
    """Clicks on a page of n candidates, one per document shown."""
    try:
        values = np.asarray(clicks)
    except ValueError as error:
        raise DataError(f"clicks is not a list of true and false: {error}") from None
    if values.dtype.kind not in "biuf" or np.isnan(values).any():  # the text "false" would be true, and so would NaN
        raise DataError(f"clicks is not a list of true and false: {str(clicks)[:60]}")
    clicked = values.astype(bool).ravel()
    size = page.order.size
    if clicked.size != size:
        raise DataError(f"clicks has {clicked.size} values, the page has {size} documents")
    wrong = page.order[(page.order < 0) | (page.order >= n)]
    if wrong.size:
        raise DataError(f"the page has document {int(wrong[0])}, but there are {n} candidates")
    if np.unique(page.order).size != size:
        raise DataError("the page has a document twice")
    return clicked


@dataclass(eq=False)
class OnlineLearner:
    """Base of the learners: a model that learns from clicks on the pages it makes. Linear unless a subclass says more.

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
        centred on the candidates). 0 means no bound, 1 always shows the current order.
    random_state
        Seed.
    """

    show_kernel: ClassVar[Any]
    learn_kernel: ClassVar[Any]
    score_kernel: ClassVar[Any] = scores_of

    n_features: int
    learning_rate: float = 0.1
    k: int = 10
    least: float = 0.0
    random_state: int = 0
    weights: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.n_features < 1 or self.k < 1 or not 0 < self.learning_rate < np.inf or not 0 <= self.least <= 1:
            raise DataError(
                f"n_features={self.n_features}, k={self.k}, learning_rate={self.learning_rate}, least={self.least}: "
                "n_features and k are at least 1, the learning rate is positive, least is between 0 and 1"
            )
        self.weights = self.new_weights()
        self._state = np.array([np.uint64(self.random_state % 2**63)], np.uint64)
        self._memory = self.new_memory()

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "weights":  # users give weights to begin with; the kernels need floats, and change them in place
            try:
                value = np.array(value, np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(f"weights are not numbers: {error}") from None
            old = self.__dict__.get("weights", value)
            if value.shape != old.shape or not np.isfinite(value).all():
                raise DataError(f"weights have shape {value.shape}; {old.size} finite numbers were expected")
        super().__setattr__(name, value)

    # -- what a learner is made of, for the simulator
    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read: learning rate, bound, and those of the learner."""
        return np.array([self.learning_rate, self.least], np.float64)

    def new_weights(self) -> np.ndarray:
        """Initial weights."""
        return np.zeros(self.n_features)

    def new_memory(self) -> np.ndarray:
        """What the kernels keep from page to page, one row of features each."""
        return np.zeros((1, self.n_features))

    # -- live use
    def show(self, X: Any) -> Page:
        """Make a page of the candidates."""
        X = self._checked(X)
        n = len(X)
        order, team = np.empty(max(self.k, 1), np.int64), np.zeros(max(self.k, 1), np.int64)
        memory = self._memory.copy()  # a page that another thread makes, or learns from, must not change this one
        size = self.show_kernel(
            self.weights, memory, X, np.arange(n), n, self.k, self.parameters(), self._state,
            np.empty((6, max(n, 1))), order, team,
        )  # fmt: skip
        return Page(order[:size].copy(), self._detail(team[:size], memory))

    def learn(self, X: Any, page: Page, clicks: Any) -> Self:
        """Learn from the clicks on a page: one value per document shown, true if it was clicked."""
        X, clicked = self._checked_page(X, page, clicks)
        size = clicked.size
        team = self._use(page.detail, size)
        if clicked.any():
            n = len(X)
            self.learn_kernel(
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
            "clicks": checked_clicks(page, clicks, len(X)).tolist(),
        }

    def check(self, event: dict[str, Any]) -> None:
        """Raise `DataError` if this is not what `event` gives."""
        X, page, clicks = self._parts(event)
        self._checked_page(X, page, clicks)
        self._check_detail(page.detail, page.order.size)

    def apply(self, event: dict[str, Any]) -> None:
        """Learn from what `event` gave."""
        self.learn(*self._parts(event))

    def _parts(self, event: dict[str, Any]) -> tuple[Any, Page, Any]:
        try:
            order = np.array(event["order"], np.int64).reshape(-1)
            return event["X"], Page(order, event["detail"]), event["clicks"]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DataError(f"not an event of a {type(self).__name__}: {type(error).__name__} {error}") from None

    def predict(self, X: Any) -> np.ndarray:
        """Scores, higher is better."""
        X = self._checked(X)
        scores = np.empty(len(X))
        self.score_kernel(self.weights, X, np.arange(len(X)), len(X), self.parameters(), scores)
        return scores

    def _detail(self, team: np.ndarray, memory: np.ndarray) -> Any:
        return None

    def _use(self, detail: Any, size: int) -> np.ndarray:
        return np.zeros(size, np.int64)

    def _check_detail(self, detail: Any, size: int) -> None:
        """Raise `DataError` if `_use` cannot use the detail."""

    def _checked_page(self, X: Any, page: Page, clicks: Any) -> tuple[np.ndarray, np.ndarray]:
        X = self._checked(X)
        return X, checked_clicks(page, clicks, len(X))

    def _checked(self, X: Any) -> np.ndarray:
        return np.ascontiguousarray(feature_table(X, self.n_features))

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
            raise DataError(f"the state is that of another learner: {weights.size} weights, not {self.weights.size}")
        self.__dict__["weights"], self._memory = weights, memory  # as they were, finite or not
        self._state = np.array([state["random"]], np.uint64)
        return self
