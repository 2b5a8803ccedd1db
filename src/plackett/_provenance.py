"""Where an item comes from: the decorator that functions carry; classes have the same words as attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["fulfils"]

F = TypeVar("F", bound=Callable[..., Any])


def fulfils(*ids: str, paper: str = "") -> Callable[[F], F]:
    """Mark a function with the catalogue ids that it fulfils and the paper it follows.

    Only literals may be given: the catalogue reads them from the source without importing it. A class says the same
    with the attributes ``ids`` and ``paper``.

    >>> @fulfils("data.pooling", paper="Harman 1993")
    ... def pool(): ...
    >>> pool.ids
    ('data.pooling',)
    """

    def mark(function: F) -> F:
        function.ids = ids  # type: ignore[attr-defined]
        function.paper = paper  # type: ignore[attr-defined]
        return function

    return mark
