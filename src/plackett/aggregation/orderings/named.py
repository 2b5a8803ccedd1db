"""Ordering methods by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plackett._names.catalogue import find
from plackett.aggregation.orderings.base import Ordering

__all__ = ["find_ordering"]


def find_ordering(order: Any, **parameters: Any) -> Ordering:
    """The ordering method with this name, given those of the parameters that it has; an object is returned unchanged.

    >>> find_ordering("degree", random_state=3)
    SortByDegree()
    """
    if isinstance(order, Ordering):
        return order
    item = find("ordering", str(order), shown=lambda item: repr(item.aliases[0]))
    cls = getattr(import_module(item.module), item.symbol)
    return cls(**{name: value for name, value in parameters.items() if name in cls.__dataclass_fields__})
