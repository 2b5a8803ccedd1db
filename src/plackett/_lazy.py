"""Packages whose items are imported when first used, and which give all of them when called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from plackett.catalogue import Item, items

__all__ = ["open_package"]


def open_package(
    package: str,
    kind: str,
    named: dict[str, str],
    value: Callable[[Item, Any], Any],
    everything: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Make the items of a kind attributes of a package, and the package callable.

    ``plackett.measures`` is a package and, as the interface promises, ``plackett.measures()`` gives every measure by
    name.

    Parameters
    ----------
    named
        Further attributes, with the module of the package that has each.
    value
        What an item's attribute is, given the item and the class that implements it.
    everything
        What a call gives; the items of the kind without it.
    """

    class Package(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name in named:
                return getattr(import_module(f"{package}.{named[name]}"), name)
            for item in items(kind):
                if name in (item.name, item.symbol):
                    return value(item, _class(item))
            raise AttributeError(f"module {package!r} has no attribute {name!r}")

        def __dir__(self) -> list[str]:
            return sorted([*super().__dir__(), *named, *(item.name for item in items(kind))])

        def __call__(self) -> dict[str, Any]:
            return everything() if everything else {item.name: value(item, _class(item)) for item in items(kind)}

    sys.modules[package].__class__ = Package


def _class(item: Item) -> Any:
    return getattr(import_module(item.module), item.symbol)
