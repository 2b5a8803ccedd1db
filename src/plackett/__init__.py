"""plackett: learning to rank.

Public names are imported when first used, so that ``import plackett`` costs nothing. `plackett._names.index` maps each
to its module; it and the stubs are generated from the sources by ``python -m plackett._names.catalogue``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plackett._base.errors import ClusterError, DataError, LossError, MeasureError, MissingExtraError, PlackettWarning
from plackett._base.version import __version__ as __version__
from plackett._names.index import ITEMS, PACKAGES, PUBLIC
from plackett._names.nearest import suggestion

__all__ = [
    "ClusterError",
    "DataError",
    "LossError",
    "MeasureError",
    "MissingExtraError",
    "PlackettWarning",
    *PACKAGES,
    *PUBLIC,
]


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return import_module(f"plackett.{name}")
    module = PUBLIC.get(name)
    if module is None:
        homes = {module.split(".")[1] for _, item, module, symbol, *_ in ITEMS if name in (item, symbol)}
        place = "".join(f"; there is plackett.{package}.{name}" for package in sorted(homes))
        raise AttributeError(f"module 'plackett' has no attribute {name!r}{place or suggestion(name, __all__)}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
