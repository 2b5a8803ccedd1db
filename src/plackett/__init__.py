"""plackett: learning to rank.

Public names are imported when first used, so that ``import plackett`` costs nothing. ``_names/items.tsv`` says which
module has each; it and the stubs are generated from the sources by ``python tools/catalogue.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plackett._base.errors import ClusterError, DataError, LossError, MeasureError, MissingExtraError, PlackettWarning
from plackett._base.version import __version__ as __version__
from plackett._names.catalogue import items, public_names
from plackett._names.nearest import suggestion

#: The packages that users import from.
PACKAGES = (
    *("aggregation", "applications", "clicks", "cluster", "data", "datasets", "diversity", "evaluation"),
    *("experiments", "explanations", "export", "feature_selection", "graph", "losses", "measures", "models", "online"),
    *("permutation_models", "plot", "rankers", "scorers", "selection", "serve", "solvers", "testing"),
    *("text", "theory", "workbench"),
)
_NAMES = public_names()

__all__ = [
    "ClusterError",
    "DataError",
    "LossError",
    "MeasureError",
    "MissingExtraError",
    "PlackettWarning",
    *PACKAGES,
    *_NAMES,
]


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return import_module(f"plackett.{name}")
    if name not in _NAMES:
        homes = {item.package for item in items() if name in (item.name, item.symbol)}
        place = "".join(f"; there is plackett.{package}.{name}" for package in sorted(homes))
        raise AttributeError(f"module 'plackett' has no attribute {name!r}{place or suggestion(name, __all__)}")
    value = _NAMES[name].load()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
