"""Rankers on disk: parameters and a model card as JSON, the scorer as plain arrays. Loading runs no code of the file."""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from plackett import _storage
from plackett._errors import DataError
from plackett.catalogue import items
from plackett.losses.base import Loss
from plackett.losses.custom import REGISTERED, CustomLoss, UnknownLoss

__all__ = ["load", "save"]

#: Scorers by the name under which they are stored, with the module that has them.
SCORERS = {
    "linear": ("plackett.models.linear", "LinearScorer"),
    "trees": ("plackett.models.trees", "TreeScorer"),
    "neural": ("plackett.models.neural", "NeuralScorer"),
}


def save(ranker: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted ranker to one file, which appears complete or not at all."""
    ranker._check_fitted()
    header = {
        "algorithm": type(ranker).__name__,
        "parameters": {name: _plain(value) for name, value in ranker.get_params(deep=False).items()},
        "fitted": {"n_features_in_": ranker.n_features_in_, "history_": [float(v) for v in ranker.history_]},
        "card": ranker.card_,
        "scorer": ranker.scorer_.kind,
    }
    if hasattr(ranker, "feature_names_in_"):
        header["fitted"]["feature_names_in_"] = [str(name) for name in ranker.feature_names_in_]
    metadata = {"kind": "model", "ranker": json.dumps(header, ensure_ascii=False)}
    _storage.write(path, ranker.scorer_.to_arrays(), metadata)


def load(path: str | os.PathLike[str]) -> Any:
    """The ranker that `save` wrote."""
    arrays, metadata = _storage.read(path, kind="model", mmap=False)
    try:
        header = json.loads(metadata["ranker"])
        algorithm, scorer = header["algorithm"], header["scorer"]
        parameters, fitted = header["parameters"], header["fitted"]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: the description of the model is damaged ({error})") from None
    found = [item for item in items("ranker") if item.symbol == algorithm]
    if not found or scorer not in SCORERS:
        raise DataError(f"{path}: holds a {algorithm} ({scorer}), which this version of plackett does not have")
    cls = getattr(import_module(found[0].module), algorithm)
    known = {field.name for field in fields(cls)}
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise DataError(f"{path}: {algorithm} has no parameter {unknown[0]!r}; the file is from another version")
    ranker = cls(**{name: _object(value) for name, value in parameters.items()})
    module, symbol = SCORERS[scorer]
    ranker.scorer_ = getattr(import_module(module), symbol).from_arrays(arrays)
    ranker.n_features_in_ = int(fitted["n_features_in_"])
    ranker.history_ = list(fitted["history_"])
    ranker.card_ = header["card"]
    if "feature_names_in_" in fitted:
        ranker.feature_names_in_ = np.array(fitted["feature_names_in_"], dtype=object)
    return ranker


def _plain(value: Any) -> Any:
    """A parameter as JSON; losses and models by name and fields."""
    if isinstance(value, CustomLoss):
        return {"custom_loss": value.name, "parameters": _plain(dict(value.parameters))}
    if is_dataclass(value) and not isinstance(value, type):
        kind = "loss" if isinstance(value, Loss) else "model"
        return {kind: type(value).__name__, "fields": {f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(entry) for entry in value]}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise DataError(f"a parameter of type {type(value).__name__} cannot be saved: {value!r}")


def _object(value: Any) -> Any:
    """What `_plain` wrote."""
    if isinstance(value, list):
        return [_object(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {_object(key): _object(entry) for key, entry in value["dict"]}
    if "tuple" in value:
        return tuple(_object(entry) for entry in value["tuple"])
    if "custom_loss" in value:
        name, parameters = value["custom_loss"], _object(value["parameters"])
        return REGISTERED[name].replace(**parameters) if name in REGISTERED else UnknownLoss(name, parameters)
    kind, name = ("loss", value.get("loss")) if "loss" in value else ("model", value.get("model"))
    found = [item for item in items(kind) if item.symbol == name]
    if not found:
        raise DataError(f"the model uses the {kind} {name!r}, which is not known here")
    cls = getattr(import_module(found[0].module), str(name))
    return cls(**{key: _object(entry) for key, entry in value["fields"].items()})
