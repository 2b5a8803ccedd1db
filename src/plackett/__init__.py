"""plackett: learning to rank.

The names below are the public surface. They are imported when first used, so that ``import plackett`` costs nothing;
`plackett._index` maps each to its module and is generated from this file by ``python -m plackett.catalogue``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plackett._errors import DataError, MeasureError, PlackettWarning
from plackett._index import PUBLIC

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset as RankingDataset
    from plackett.experiments.evaluate import evaluate as evaluate

__version__ = "0.1.0"
__all__ = ["DataError", "MeasureError", "PlackettWarning", "__version__", *PUBLIC]


def __getattr__(name: str) -> Any:
    module = PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'plackett' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
