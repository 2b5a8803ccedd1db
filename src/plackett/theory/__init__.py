"""Risks, bounds, stability, consistency and the planner: what is proved about ranking, as numbers.

The items are attributes of the package and imported when first used: ``plackett.theory.Risk``,
``plackett.theory.check_consistency``, ``plackett.theory.plan``. ``plackett list --kind theory`` names them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A module that is named after its item gives way to it: ``theory.auc_deviation`` is the function at all times."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in vars(value):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    from plackett.catalogue import items

    for item in items("theory"):
        if item.symbol == name:
            return getattr(import_module(item.module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from plackett.catalogue import items

    return sorted([*globals(), *(item.symbol for item in items("theory"))])
