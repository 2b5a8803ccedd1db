"""Click models by name, and from files."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from plackett._names.catalogue import find, items
from plackett.clicks.models.base import ClickModel, load_file

__all__ = ["load_model"]

KIND = "click model"


def model_names() -> list[str]:
    """Names of the click models."""
    return [item.name for item in items(KIND)]


def make_model(name: str, **parameters: Any) -> ClickModel:
    """A click model by its name, in any spelling.

    >>> make_model("sdbn").gamma
    1.0
    """
    item = find(KIND, name)
    return getattr(import_module(item.module), item.symbol)(**parameters)


def load_model(path: str | os.PathLike[str]) -> ClickModel:
    """Read a click model that `ClickModel.save` wrote. Runs no code from the file."""
    return load_file(path, {item.name: getattr(import_module(item.module), item.symbol) for item in items(KIND)})
