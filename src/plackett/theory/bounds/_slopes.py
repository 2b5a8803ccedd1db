"""Slopes of the increasing convex surrogates at the largest score."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

from plackett._base.arguments import number
from plackett._base.errors import DataError

_SLOPES: dict[str, Callable[[float], float]] = {
    "exponential": exp,
    "hinge": lambda z: 1.0,
    "logistic": lambda z: 1.0 / (1.0 + exp(-z)),
}


def slope_at(surrogate: str | float, largest: float) -> float:
    """φ′ at a value: of a surrogate by name, or the number itself.

    >>> slope_at("hinge", 3.0), slope_at(2.5, 3.0)
    (1.0, 2.5)
    """
    if isinstance(surrogate, str):
        if surrogate not in _SLOPES:
            raise DataError(f"surrogate={surrogate!r}; give one of {', '.join(map(repr, _SLOPES))}, or its slope")
        return _SLOPES[surrogate](largest)
    return number("surrogate", surrogate, least=0.0)
