"""Rankers, and pipelines that end in one, on disk: parameters and a model card as JSON, the scorer as plain arrays.

Loading never runs code from the file: classes are looked up in the catalogue, and their arguments are checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError, reading
from plackett._base.parameters import check_parameters
from plackett._files import storage
from plackett._names.catalogue import items
from plackett.rankers import pipelines
from plackett.rankers.base import Ranker
from plackett.scorers.calibration import CALIBRATIONS
from plackett.scorers.fields import scorer_class
from plackett.scorers.plain_values import current, from_plain, to_plain

__public__ = ["save"]

#: Prefixes of the names of calibration arrays and of other learned arrays.
_CALIBRATION, _LEARNED = "calibration/", "learned/"
#: Pattern of learned attributes, and those that are stored separately.
_NAME = re.compile(r"[a-z][a-z0-9_]*_")
_APART = ("scorer_", "history_", "card_", "calibration_", "n_features_in_", "feature_names_in_", "categories_")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted ranker, or a pipeline of plackett's own transformers and a ranker, to one file.

    The file appears complete or not at all, and holds no code.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> ranker = pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> path = tempfile.mkdtemp() + "/model.plackett"
    >>> save(ranker, path)
    >>> load(path)
    ListNet()
    """
    ranker, steps = pipelines.take_apart(model)
    if not isinstance(ranker, Ranker):
        raise DataError(f"a {type(ranker).__name__} cannot be saved; only rankers, and pipelines that end in one")
    header, arrays = pack(ranker)
    if steps is not None:
        header["pipeline"] = steps
    text = json.dumps(header, ensure_ascii=False)
    storage.write(path, arrays, {"kind": "model", "ranker": text, "digest": _digest(text, arrays)})


def pack(ranker: Ranker) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A fitted ranker as JSON and named arrays."""
    ranker.check_fitted()
    algorithm = type(ranker).__name__
    if not any((item.module, item.symbol) == (type(ranker).__module__, algorithm) for item in items("ranker")):
        raise DataError(
            f"a {algorithm} of {type(ranker).__module__} cannot be saved: model files hold the rankers of plackett, "
            "and no code. Use pickle, which needs the class when loading"
        )
    header: dict[str, Any] = {
        "algorithm": algorithm,
        "parameters": {name: to_plain(value, name) for name, value in ranker.get_params(deep=False).items()},
        "fitted": {"n_features_in_": ranker.n_features_in_, "history_": [float(v) for v in ranker.history_]},
        "card": ranker.card_,
        "scorer": ranker.scorer_.kind,
    }
    if hasattr(ranker, "feature_names_in_"):
        header["fitted"]["feature_names_in_"] = ranker.feature_names_in_.tolist()
    if hasattr(ranker, "categories_"):
        header["fitted"]["categories_"] = ranker.categories_
    arrays = dict(ranker.scorer_.to_arrays())
    numbers, tables = _learned(ranker)
    header["fitted"]["learned"] = numbers
    arrays |= {_LEARNED + name: array for name, array in tables.items()}
    if hasattr(ranker, "calibration_"):
        header["calibration"] = ranker.calibration_.kind
        arrays |= {_CALIBRATION + name: array for name, array in ranker.calibration_.to_arrays().items()}
    return header, arrays


def load(path: str | os.PathLike[str]) -> Any:
    """Read the ranker or pipeline that `save` wrote."""
    with reading(path, "the description of the model"):
        header, arrays = _read(path)
        ranker = unpack(header, arrays)
        return pipelines.put_together(ranker, header["pipeline"]) if "pipeline" in header else ranker


def card(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the model card of a file: algorithm, parameters, training data, validation."""
    with reading(path, "the description of the model"):
        header, _ = _read(path)
    return {key: header.get(key) for key in ("card", "parameters", "pipeline") if key in header}


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays, metadata = storage.read(path, kind="model", mmap=False)
    text = metadata.get("ranker", "")
    if metadata.get("digest") != _digest(text, arrays):
        raise DataError(f"{path}: the model is damaged (its content does not match its digest)")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise DataError(f"{path}: the description of the model is damaged (it is not a JSON object)")
    return header, arrays


def unpack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Ranker:
    """Rebuild the ranker from the result of `pack`."""
    algorithm, scorer = header["algorithm"], header["scorer"]
    matching = [item for item in items("ranker") if item.symbol == algorithm]
    if not matching:
        raise DataError(f"holds a {algorithm!r} ({scorer!r}), which this version of plackett does not have")
    cls = matching[0].load()
    parameters = current(header["parameters"])
    unknown = sorted(set(parameters) - set(cls().get_params(deep=False)))
    if unknown:
        raise DataError(f"{algorithm} has no parameter {unknown[0]!r}; the file is from another version")
    ranker = cls(**{name: from_plain(value) for name, value in parameters.items()})
    check_parameters(ranker)
    fitted = header["fitted"]
    ranker.n_features_in_ = int(fitted["n_features_in_"])
    ranker.history_ = [float(value) for value in fitted["history_"]]
    ranker.card_ = dict(header["card"])
    if "feature_names_in_" in fitted:
        ranker.feature_names_in_ = np.array([str(name) for name in fitted["feature_names_in_"]], dtype=object)
    if "categories_" in fitted:
        ranker.categories_ = _categories(fitted["categories_"], getattr(ranker, "feature_names_in_", ()))
    for name, value in (fitted.get("learned", {}) | _taken(arrays, _LEARNED)).items():
        if _NAME.fullmatch(name) and name not in _APART and not hasattr(type(ranker), name):
            setattr(ranker, name, from_plain(value))
    if "calibration" in header:
        parts = _taken(arrays, _CALIBRATION)
        ranker.calibration_ = CALIBRATIONS[header["calibration"]].from_arrays(parts)
    ranker.scorer_ = scorer_class(scorer).from_arrays(arrays)
    ranker.check_loaded()
    return ranker


def _categories(categories: Any, names: Any) -> dict[str, list[Any]]:
    """Categories of columns, checked: features that exist, and plain values that differ."""
    for name, values in categories.items():
        if name not in names or not isinstance(values, list) or len({(type(v), v) for v in values}) != len(values):
            raise DataError(f"the categories of column {name!r} are damaged")
        if not all(isinstance(value, (str, bool, int, float)) for value in values):
            raise DataError(f"the categories of column {name!r} are damaged")
    return dict(categories)


def _learned(ranker: Ranker) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Other learned attributes of a ranker (``gap_``, ``thresholds_``), as long as they are numbers or text."""
    numbers: dict[str, Any] = {}
    tables: dict[str, np.ndarray] = {}
    for name, value in vars(ranker).items():
        if not _NAME.fullmatch(name) or name in _APART:
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            tables[name] = value
        elif value is None or isinstance(value, (bool, int, float, str, np.integer, np.floating)):
            numbers[name] = to_plain(value, name)
    return numbers, tables


def _taken(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Remove and return the arrays whose names start with a prefix; the prefix is stripped."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}


def _digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Hash of everything: LightGBM and PyTorch must not be given damaged models."""
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
