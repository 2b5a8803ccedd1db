"""Where a function comes from: the decorator that says it. Classes say the same with ``_ids`` and ``paper``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def fulfils(*ids: str, paper: str = "") -> Callable[[F], F]:
    """Mark a function with the entries of the inventory that it fulfils and the paper it follows.

    Only literals may be given: the catalogue reads them from the source without importing it. The function itself stays
    as it is.

    >>> @fulfils("data.pooling", paper="Harman 1993")
    ... def pool(): ...
    >>> pool.__name__
    'pool'
    """
    return lambda function: function
