"""Properties that are computed once."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """`functools.cached_property` without a lock, as Python has it from 3.12 on.

    The lock of Python 3.11 is one for all objects of a class, and is held while a value is computed. A process forked
    at that moment inherits a lock that nobody opens: its first use of the property, for any object, waits forever.
    Two threads that ask at once both compute the value here, and the last one is kept.
    """

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        """The value, computed where the object does not have it yet; Python itself looks there first."""
        if instance is None:
            return self
        assert self.attrname is not None
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value
