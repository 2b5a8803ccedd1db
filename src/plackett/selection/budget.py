"""How a budget of judgements is spread."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from plackett._base.errors import DataError


def checked_budget(budget: Any, available: int, what: str = "unjudged documents") -> int:
    """The budget, checked to be a whole number between 1 and what is available."""
    try:
        number = operator.index(budget)
    except TypeError:
        raise DataError(f"budget must be a whole number, got {budget!r}") from None
    if number < 1:
        raise DataError(f"budget must be 1 or more, got {number}")
    if number > available:
        raise DataError(f"budget={number}, but there are only {available} {what}")
    return number


def share(budget: int, available: np.ndarray) -> np.ndarray:
    """Spread a budget over queries as evenly as their sizes allow; what is left over goes to the first queries.

    >>> share(7, np.array([5, 1, 4])).tolist()
    [3, 1, 3]
    """
    given = np.zeros(available.size, np.int64)
    left = min(budget, int(available.sum()))
    while left:
        hungry = np.flatnonzero(given < available)
        each = left // hungry.size
        if each == 0:
            given[hungry[:left]] += 1
            break
        more = np.minimum(each, (available - given)[hungry])
        given[hungry] += more
        left -= int(more.sum())
    return given


def proportional(total: int, mass: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whole numbers between ``low`` and ``high`` that sum to ``total`` and are about proportional to ``mass``.

    >>> proportional(7, np.array([4.0, 2.0, 1.0]), np.array([1, 1, 1]), np.array([3, 9, 9])).tolist()
    [3, 3, 1]
    """
    given = np.clip(np.floor(total * mass / mass.sum()).astype(np.int64), low, high)
    while given.sum() != total:
        step = 1 if given.sum() < total else -1
        adjustable = given < high if step > 0 else given > low
        if not adjustable.any():
            raise DataError(f"{total} cannot be spread within the bounds")
        lack = step * (total * mass / mass.sum() - given)
        given[np.argmax(np.where(adjustable, lack, -np.inf))] += step
    return given
