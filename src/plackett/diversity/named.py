"""Re-rankers by name."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

from plackett._base.errors import DataError
from plackett._names.catalogue import find
from plackett._names.nearest import hint
from plackett.diversity.reranker import Reranker

__all__ = ["find_reranker"]


def find_reranker(method: str | Reranker, **parameters: Any) -> Reranker:
    """Make a re-ranker from its name, in any spelling, with parameters.

    >>> find_reranker("mmr", k=5)
    MMR(k=5, depth=100, relevance='minmax', trade_off=0.7)
    """
    chosen = method if isinstance(method, Reranker) else _default(method)
    known = [field.name for field in dataclasses.fields(chosen)]
    for name in parameters:
        if name not in known:
            raise DataError(f"{type(chosen).__name__} has no parameter {name!r}; {hint(name, known, 'it has')}")
    return dataclasses.replace(chosen, **parameters)


def _default(name: str) -> Reranker:
    item = find("re-ranker", str(name))
    reranker: Reranker = getattr(import_module(item.module), item.symbol)()
    return reranker
