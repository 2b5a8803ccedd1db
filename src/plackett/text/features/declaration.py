"""Features declared as mappings, in Python or in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError, reading
from plackett._files.checks import open_regular
from plackett._names.catalogue import items
from plackett._names.nearest import nearest, question
from plackett._names.optional import optional
from plackett.text.features.base import Feature
from plackett.text.features.document import AttributeFeature, LengthFeature, LinkFeature, UrlFeature
from plackett.text.features.letor import gov2_features, gov_features, ohsumed_features
from plackett.text.features.model import ModelFeature
from plackett.text.features.proximity import ProximityFeature
from plackett.text.features.query import QueryFeature
from plackett.text.features.table import TableFeature
from plackett.text.retrieval.base import RetrievalModel

#: LETOR's sets by name.
SETS: dict[str, Callable[..., list[Feature]]] = {
    "ohsumed": ohsumed_features,
    "gov": gov_features,
    "gov2": gov2_features,
}
#: By the key of a declaration: the class, and the parameter that takes the key's value.
KINDS: dict[str, tuple[type[Feature], str]] = {
    "query": (QueryFeature, "statistic"),
    "length": (LengthFeature, "field"),
    "attribute": (AttributeFeature, "attribute"),
    "links": (LinkFeature, "statistic"),
    "url": (UrlFeature, "statistic"),
    "proximity": (ProximityFeature, "statistic"),
    "table": (TableFeature, "table"),
}
_KEYS = ("set", "model", *KINDS)


def feature_of(given: Any) -> list[Feature]:
    """Features that a declaration means.

    >>> [feature.title for feature in feature_of({"model": "BM25", "fields": ["title", "body"], "k1": 0.9})]
    ['BM25(k1=0.9) title', 'BM25(k1=0.9) body']
    """
    if isinstance(given, RetrievalModel):
        return [ModelFeature(model=given)]
    if isinstance(given, str):
        return feature_of({"set": given} if given in SETS else {"model": given})
    if not isinstance(given, Mapping):
        raise DataError(
            f"{given!r:.100} is not a feature; give a Feature, a model, or a mapping such as {{'model': 'BM25'}}"
        )
    keys = [key for key in _KEYS if key in given]
    if len(keys) != 1 and not ("links" in keys or "url" in keys):
        what = f"has {' and '.join(keys)}" if keys else "has none of them"
        raise DataError(f"{dict(given)!r:.200}: a feature has one of {', '.join(_KEYS)}; this one {what}")
    key = keys[0]
    rest = {name: value for name, value in given.items() if name != key}
    if key == "set":
        return _set(given[key], rest)
    several = rest.pop("fields", None)
    if several is not None:
        if not isinstance(several, (list, tuple)) or "field" in rest:
            raise DataError(f"{dict(given)!r:.200}: fields must be a list of names, instead of field")
        return [one for name in several for one in feature_of({key: given[key], **rest, "field": name})]
    if key == "model":
        own = {name: rest.pop(name) for name in ("field", "name", "transform") if name in rest}
        return [_made(ModelFeature, {"model": model_of(given[key], rest), **own}, "feature model")]
    kind, parameter = KINDS[key]
    if key in ("url", "links") and "field" in rest:  # the stored field of URLs: "url" is taken by the statistic
        rest["url"] = rest.pop("field")
    return [_made(kind, {parameter: given[key], **rest}, f"feature {key}")]


def model_of(name: str, parameters: Mapping[str, Any]) -> RetrievalModel:
    """A retrieval model by its name and parameters; the model inside it, ``inner``, is declared in the same way.

    >>> model_of("RM3", {"inner": {"model": "LMIR.DIR", "mu": 100}, "n_terms": 10})
    RM3(model=Dirichlet(mu=100), n_documents=10, n_terms=10, weight=0.5)
    """
    known = _models()
    if not isinstance(name, str) or name not in known:
        near = nearest(str(name), known, 3)
        raise DataError(f"unknown model {name!r}; {question(near) if near else 'see `plackett list --kind text`'}")
    given = dict(parameters)
    if "inner" in given:  # a declaration has its own name under "model"
        given["model"] = given.pop("inner")
    inner = given.get("model")
    if isinstance(inner, str):
        given["model"] = model_of(inner, {})
    elif isinstance(inner, Mapping):
        given["model"] = model_of(inner.get("model", ""), {k: v for k, v in inner.items() if k != "model"})
    if isinstance(given.get("weights"), list):
        given["weights"] = tuple(given["weights"])
    return _made(known[name], given, f"model {name}")


def declaration_of(model: RetrievalModel) -> dict[str, Any]:
    """A declaration that `feature_of` and `model_of` understand, with all parameters.

    >>> declaration_of(model_of("RM3", {"inner": "LMIR.DIR"}))["inner"]
    {'model': 'LMIR.DIR', 'mu': 1000.0}
    """
    declaration: dict[str, Any] = {"model": model.name}
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, RetrievalModel):
            declaration["inner" if each.name == "model" else each.name] = declaration_of(value)
        else:
            declaration[each.name] = dict(value) if isinstance(value, Mapping) else value
    return declaration


def _models() -> dict[str, Any]:
    models: dict[str, Any] = {}
    for item in items("text"):
        if item.module.startswith("plackett.text.retrieval.") or item.symbol == "ScaledLog":
            model_class = getattr(import_module(item.module), item.symbol)
            if isinstance(model_class, type) and issubclass(model_class, RetrievalModel):
                models |= dict.fromkeys((item.symbol, *item.aliases), model_class)
                models[item.name] = model_class
    return models


def _made(kind: Any, parameters: Mapping[str, Any], what: str) -> Any:
    known = {field.name: field for field in fields(kind)}
    for name in parameters:
        if name not in known:
            near = nearest(str(name), known, 3)
            raise DataError(f"{what} has no parameter {name!r}; {question(near) if near else ', '.join(known)}")
    missing = [
        n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in parameters
    ]
    if missing:
        raise DataError(f"{what} needs {', '.join(missing)}")
    for name, value in parameters.items():
        default = known[name].default
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if number and (not isinstance(value, (int, float)) or isinstance(value, bool)):
            raise DataError(f"{what}: {name}={value!r}; give a number")
        declared = known[name].type  # as it is written
        if (
            declared in ("str", "str | None")
            and not isinstance(value, str)
            and (declared == "str" or value is not None)
        ):
            raise DataError(f"{what}: {name}={value!r:.60}; give a text")
    try:
        return kind(**parameters)
    except TypeError as error:
        raise DataError(f"{what}: {error}") from None


def _set(name: Any, parameters: Mapping[str, Any]) -> list[Feature]:
    if name not in SETS:
        raise DataError(f"unknown set of features {name!r}; give one of {', '.join(SETS)}")
    try:
        return SETS[name](**parameters)
    except TypeError:
        raise DataError(f"set {name}: unknown parameters {', '.join(parameters)}") from None


def declarations_of_file(path: str | os.PathLike[str]) -> list[Any]:
    """Declarations as a YAML or JSON file has them: a list, or a mapping with a list under ``features``.

    A table next to the file is named by its full path.
    """
    file = Path(path)
    if not file.exists():
        raise DataError(f"{file}: no such file")
    with open_regular(file) as opened:
        text = opened.read().decode("utf-8", "replace")
    with reading(file, "the list of features"):
        declared = json.loads(text) if file.suffix == ".json" else _from_yaml(text)
    if isinstance(declared, Mapping):
        declared = declared.get("features")
    if not isinstance(declared, list):
        raise DataError(f"{file}: expected a list of features, such as '- model: BM25'")
    return [_located(entry, file) for entry in declared]


def _from_yaml(text: str) -> Any:
    yaml = optional("yaml", "YAML files need")
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise DataError(f"{where}not YAML: {error.problem or error.context}") from None


def features_of_file(path: str | os.PathLike[str]) -> list[Any]:
    """Features that are declared in a YAML or JSON file."""
    declared: list[Any] = []
    for number, entry in enumerate(declarations_of_file(path), 1):
        try:
            declared.extend(feature_of(entry))
        except DataError as error:
            raise DataError(f"{path}: feature {number}: {error}") from None
    return declared


def _located(entry: Any, file: Path) -> Any:
    """Look for a table next to the file that names it."""
    if isinstance(entry, Mapping) and isinstance(entry.get("table"), str):
        neighbour = file.parent / entry["table"]
        return {**entry, "table": str(neighbour)} if neighbour.exists() else entry
    return entry
