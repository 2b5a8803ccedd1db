"""Measures of ranking quality, one per file. ``plackett.measures()`` gives them all by name.

>>> from plackett.measures import nDCG
>>> nDCG @ 10
nDCG@10
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plackett.measures.base import Measure as Measure
    from plackett.measures.language import parse as parse
    from plackett.measures.ranking import TIES as TIES

_HERE = {"Measure": "base", "parse": "language", "TIES": "ranking"}


def __getattr__(name: str) -> Any:
    if name in _HERE:
        return getattr(import_module(f"plackett.measures.{_HERE[name]}"), name)
    from plackett.catalogue import items

    for item in items("measure"):
        if item.name == name:
            return getattr(import_module(item.module), item.symbol)()
    raise AttributeError(f"module 'plackett.measures' has no attribute {name!r}")


def __dir__() -> list[str]:
    from plackett.catalogue import items

    return sorted([*_HERE, *(item.name for item in items("measure"))])


class _Callable(ModuleType):
    """``plackett.measures`` is a package and, as the interface promises, can be called."""

    def __call__(self) -> dict[str, Measure]:
        """Every measure by name, with default parameters."""
        from plackett.measures.language import all_measures

        return all_measures()


sys.modules[__name__].__class__ = _Callable
