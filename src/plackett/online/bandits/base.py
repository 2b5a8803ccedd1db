"""What the bandits share: events, their state, and the limit on how bad a page may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.online.learners.base import Page, checked_clicks

#: Halvings of the exploration before there is none.
_TRIES = 20


def quality(order: Any, gains: np.ndarray, ideal: Any) -> float:
    """DCG of a page as a share of that of another; 1 if the other has no gain."""
    discount = 1 / np.log2(np.arange(2, 2 + len(order)))
    best = float(gains[np.asarray(ideal)] @ discount)
    return float(gains[np.asarray(order)] @ discount) / best if best > 0 else 1.0


def within(make: Callable[[float], np.ndarray], gains: np.ndarray, least: float) -> np.ndarray:
    """The page with the most exploration (1, ½, ¼, …, 0) that keeps the share ``least`` of the page without any."""
    if least <= 0:
        return make(1.0)
    ideal = make(0.0)
    for halvings in range(_TRIES):
        order = make(0.5**halvings)
        if quality(order, gains, ideal) >= least:
            return order
    return ideal


def admissible(above: list[int], k: int, gains: np.ndarray, least: float) -> np.ndarray:
    """Which documents may come next: those with which the best page still has ``least`` of the highest DCG."""
    order = np.argsort(-gains, kind="stable")
    free = np.ones(gains.size, bool)
    free[above] = False
    if least <= 0:
        return free
    rest = order[free[order]]
    ideal = order[:k]
    allowed = np.zeros(gains.size, bool)
    for document in rest:
        page = [*above, document, *rest[rest != document][: k - len(above) - 1]]
        allowed[document] = quality(page, gains, ideal) >= least - 1e-12
    return allowed


def checked_relevance(relevance: Any, n: int, least: float) -> np.ndarray:
    """Gains of the documents, for a limit that needs them."""
    if not 0 <= least <= 1:
        raise DataError(f"least={least}; give 0 (no limit) to 1 (no exploration)")
    if relevance is None:
        if least > 0:
            raise DataError(f"least={least} needs relevance: by what should pages be judged?")
        return np.ones(n)
    gains = np.asarray(relevance, np.float64)
    if gains.shape != (n,) or not np.isfinite(gains).all() or (gains < 0).any():
        raise DataError(f"relevance has shape {gains.shape}; {n} numbers that are not negative were expected")
    return gains


def checked_look(look: Any, k: int) -> None:
    """Raise `DataError` unless these are the probabilities that k ranks are examined, or None."""
    if look is None:
        return
    try:
        chances = np.asarray(look, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"look is not a list of numbers: {error}") from None
    if chances.ndim != 1 or chances.size < k:
        raise DataError(f"look has {chances.size} ranks, {k} documents are shown")
    if not ((chances >= 0) & (chances <= 1)).all():
        raise DataError(f"look={look}: give the probability of each rank, 0 to 1")


class Bandit:
    """Base of the bandits: `event`, `check`, `apply`, `state` and `set_state` are what `Journal` needs."""

    #: Names of the arrays and numbers that change.
    _changing: ClassVar[tuple[str, ...]]
    _rng: np.random.Generator

    def learn(self, page: Page, clicks: Any) -> Self:
        """Learn from the clicks on a page."""
        raise NotImplementedError

    def event(self, page: Page, clicks: Any) -> dict[str, Any]:
        """What happened on a page, as plain values for `Journal.record`."""
        n = int(page.order.max(initial=-1)) + 1
        clicked = checked_clicks(page, clicks, n)
        return {"order": page.order.tolist(), "detail": page.detail, "clicks": clicked.tolist()}

    def check(self, event: dict[str, Any]) -> None:
        """Raise `DataError` if this is not what `event` gives."""
        page, clicks = self._page(event)
        self._check_page(page, clicks, event)

    def apply(self, event: dict[str, Any]) -> None:
        """Learn from what `event` gave."""
        self.learn(*self._page(event))

    def _page(self, event: dict[str, Any]) -> tuple[Page, Any]:
        try:
            return Page(np.array(event["order"], np.int64).reshape(-1), event["detail"]), event["clicks"]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DataError(f"not an event of a {type(self).__name__}: {type(error).__name__} {error}") from None

    def _check_page(self, page: Page, clicks: Any, event: dict[str, Any]) -> None:
        checked_clicks(page, clicks, self._n_candidates(page, event))

    def _n_candidates(self, page: Page, event: dict[str, Any]) -> int:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """All that changes, as plain values."""
        state = {name: _plain(getattr(self, name)) for name in self._changing}
        return state | ({"random": self._rng.bit_generator.state} if hasattr(self, "_rng") else {})

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what `state` gave."""
        if set(state) - {"random"} != set(self._changing):
            raise DataError(f"the state has {', '.join(state)}: it is not that of a {type(self).__name__}")
        new = {}
        for name in self._changing:
            old = getattr(self, name)
            value = np.array(state[name], old.dtype) if isinstance(old, np.ndarray) else state[name]
            if isinstance(old, np.ndarray) and value.shape != old.shape:
                raise DataError(f"the state is that of another bandit: {name} has shape {value.shape}, not {old.shape}")
            new[name] = value
        for name, value in new.items():
            setattr(self, name, value)
        if hasattr(self, "_rng"):
            self._rng.bit_generator.state = state["random"]
        return self


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, list) else value
