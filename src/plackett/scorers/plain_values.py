"""Parameters of rankers as JSON and back: numbers, strings, lists, tables, losses, models and measures."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.catalogue import items
from plackett.losses.base import Loss
from plackett.losses.custom import REGISTERED, CustomLoss, UnknownLoss
from plackett.measures.base import Measure
from plackett.measures.language import parse

#: Kinds of dataclasses in the catalogue that are neither losses nor rankers.
_OTHERS = ("model", "solver", "ordering", "relation")


def to_plain(value: Any, name: str) -> Any:
    """A parameter as a JSON value; losses, models and rankers by name and fields. ``name`` is for the error message.

    >>> to_plain((1, 2), "hidden")
    {'tuple': [1, 2]}
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist(), name)
    if isinstance(value, list):
        return [to_plain(entry, name) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [to_plain(entry, name) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[to_plain(key, name), to_plain(entry, name)] for key, entry in value.items()]}
    if isinstance(value, Measure):
        return {"measure": str(value)}
    if isinstance(value, CustomLoss):
        return {"custom_loss": value.name, "fields": _fields(dict(value.parameters), name)}
    if is_dataclass(value) and not isinstance(value, type):
        own = ("loss",) if isinstance(value, Loss) else ("ranker",) if hasattr(value, "get_params") else _OTHERS
        for kind in own:
            own_name = (type(value).__module__, type(value).__name__)
            if any((item.module, item.symbol) == own_name for item in items(kind)):
                own_fields = {field.name: getattr(value, field.name) for field in fields(value)}
                return {kind: type(value).__name__, "fields": _fields(own_fields, name)}
    raise DataError(f"{name}={value!r} cannot be saved: a {type(value).__name__} is not a plain value, loss or model")


def _fields(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: to_plain(entry, f"{name}.{key}") for key, entry in values.items()}


def from_plain(value: Any) -> Any:
    """What `to_plain` wrote. Classes are looked up in the catalogue by name; nothing else can be made.

    >>> from_plain({"tuple": [1, 2]})
    (1, 2)
    """
    if isinstance(value, list):
        return [from_plain(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {from_plain(key): from_plain(entry) for key, entry in value["dict"]}
    if "tuple" in value:
        return tuple(from_plain(entry) for entry in value["tuple"])
    if "measure" in value:
        return parse(value["measure"])
    parameters = {str(key): from_plain(entry) for key, entry in value["fields"].items()}
    if "custom_loss" in value:
        name = str(value["custom_loss"])
        return REGISTERED[name].replace(**parameters) if name in REGISTERED else UnknownLoss(name, parameters)
    kind = next(kind for kind in ("loss", "ranker", *_OTHERS) if kind in value)
    for item in items(kind):
        if item.symbol == value[kind]:
            return getattr(import_module(item.module), item.symbol)(**parameters)
    raise DataError(f"the {kind} {value[kind]!r} is not known to this version of plackett")
