"""Feature tables out of JSON: rows, columns by name, or one object per document."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._names.nearest import hint
from plackett.serve.http import RefusedError
from plackett.serve.numbers import Decoded

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel

#: The column that says which list a document belongs to.
QID = "qid"

#: How many names an error lists.
_LISTED = 3


def narrowed(values: np.ndarray, where: str) -> np.ndarray:
    """Numbers in single precision, refused where they leave its range."""
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.ascontiguousarray(values, np.float32)
    if table.dtype != values.dtype and not np.isfinite(table.sum(dtype=np.float64)):
        large = np.isinf(table) & ~np.isinf(values)
        if large.any():
            index = tuple(int(i) for i in np.argwhere(large)[0])
            raise RefusedError(400, f"{where}{list(index)} is {values[index]:g}, beyond single precision")
    return table


def places(model: ServedModel, names: Sequence[Any], where: str) -> tuple[list[int], int | None]:
    """Which column of a table each feature is, and which holds the query ids.

    Features are found by name. A model without names takes the columns besides ``qid`` in their order, whatever they
    are called; names that are numbers in another order are a mistake.
    """
    if len(names) > model.n_features + 1:
        raise RefusedError(
            400, f"{where} has {len(names)} columns; {model.name} has {model.n_features} features, and qid is one more"
        )
    at = {name: place for place, name in enumerate(names)}
    if len(at) != len(names):
        raise RefusedError(400, f"{where} has a name twice")
    of_ids = None if QID in model.feature_set else at.pop(QID, None)
    if model.feature_names and list(at) != list(range(model.n_features)):  # pandas' default names
        check_names(model, at, where)
        return [at[name] for name in model.feature_names], of_ids
    if len(at) != model.n_features:
        raise RefusedError(
            400, f"{where} has {len(at)} columns besides qid; {model.name} has {model.n_features} features"
        )
    numbers = [int(name) for name in at if str(name).isdecimal()]
    if len(numbers) == len(at) and numbers != sorted(numbers):
        raise RefusedError(
            400,
            f"{where} has columns named by numbers in another order; {model.name} was trained without feature names "
            "and takes them as they come: sort them",
        )
    return list(at.values()), of_ids


def check_keys(given: dict[str, Any], known: Collection[str], where: str) -> None:
    """Refuse keys that nobody reads: a misspelt one would silently change nothing."""
    unknown = [key for key in given if key not in known]
    if unknown:
        raise RefusedError(400, f"{where} has the unknown key {unknown[0][:60]!r}; {hint(unknown[0][:60], known)}")


def whole_ids(values: np.ndarray, where: str) -> np.ndarray:
    """Ids of queries: strings or whole numbers."""
    if values.dtype.kind != "f":
        return values
    if not (values == np.floor(values)).all() or not (np.abs(values) < 2.0**63).all():
        raise RefusedError(400, f"{where} must hold strings or whole numbers")
    return values.astype(np.int64)


def from_rows(model: ServedModel, rows: Any, decoded: Decoded, where: str, *, booleans: bool = False) -> np.ndarray:
    """A table from a list of lists of numbers, in training order; with ``booleans``, true and false are numbers."""
    array = decoded.array(rows)
    if array is None:
        if not isinstance(rows, list):
            raise RefusedError(400, f"{where} must be a list with one list of numbers per document, not {_kind(rows)}")
        array = _numbers_of_rows(model, [decoded.plain(row) for row in rows], where, booleans)
    if array.ndim != 2:
        raise RefusedError(400, f"{where} must be a list with one list of numbers per document, not a flat list")
    if array.shape[1] != model.n_features and array.size:
        raise RefusedError(
            400, f"{where}[0] has {array.shape[1]} numbers, but {model.name} has {model.n_features} features"
        )
    return narrowed(array, where)


def _numbers_of_rows(model: ServedModel, rows: list[Any], where: str, booleans: bool) -> np.ndarray:
    width = model.n_features
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            raise RefusedError(400, f"{where}[{i}] must be a list of {width} numbers, not {_kind(row)}")
        if len(row) != width:
            raise RefusedError(400, f"{where}[{i}] has {len(row)} numbers, but {model.name} has {width} features")
    if not rows:
        return np.empty((0, width))
    columns = zip(*rows, strict=True)
    table = [_column(model, j, list(values), f"{where}[…][{j}]", booleans) for j, values in enumerate(columns)]
    return np.stack(table, axis=1)


def from_columns(
    model: ServedModel, columns: dict[str, Any], decoded: Decoded, where: str, *, booleans: bool = False
) -> np.ndarray:
    """A table from lists by feature name."""
    names = model.feature_names
    check_names(model, columns, where)
    table = [column(model, j, columns[name], decoded, f"{where}.{name}", booleans) for j, name in enumerate(names)]
    sizes = {name: len(values) for name, values in zip(names, table, strict=True)}
    if len(set(sizes.values())) > 1:
        first = next(iter(sizes.items()))
        other = next(item for item in sizes.items() if item[1] != first[1])
        raise RefusedError(400, f"{where}: {first[0]} has {first[1]} values, but {other[0]} has {other[1]}")
    return narrowed(np.stack(table, axis=1), where) if table else np.empty((0, 0), np.float32)


def from_objects(model: ServedModel, objects: Sequence[Any], where: str, *, booleans: bool = False) -> np.ndarray:
    """A table from one object per document, by feature name."""
    names = model.feature_names
    for i, row in enumerate(objects):
        if not isinstance(row, dict):
            raise RefusedError(400, f"{where.format(i)} must be an object of features by name, not {_kind(row)}")
        if not names or len(row) != len(names) or not all(name in row for name in names):
            check_names(model, row, where.format(i))
    if not objects:
        return np.empty((0, len(names)), np.float32)
    table = [
        _column(model, j, [row[name] for row in objects], f"{where.format('…')}.{name}", booleans)
        for j, name in enumerate(names)
    ]
    return narrowed(np.stack(table, axis=1), where.format("…"))


def column(
    model: ServedModel, j: int, values: Any, decoded: Decoded, where: str, booleans: bool = False, first: int = 0
) -> np.ndarray:
    """The values of one feature; ``first`` is the number of the first of them."""
    array = decoded.array(values)
    if array is None:
        if not isinstance(values, list):
            raise RefusedError(400, f"{where} must be a list of numbers, not {_kind(values)}")
        return _column(model, j, values, where, booleans, first)
    if array.ndim != 1:
        raise RefusedError(400, f"{where} must be a flat list of numbers")
    return array


def _column(model: ServedModel, j: int, values: list[Any], where: str, booleans: bool, first: int = 0) -> np.ndarray:
    """Numbers, and null for missing ones; categories become their codes, unknown ones are missing."""
    codes = model.codes.get(j)
    out = np.empty(len(values))
    for i, value in enumerate(values):
        if type(value) is float or type(value) is int:
            try:
                out[i] = value
            except OverflowError:
                raise RefusedError(400, f"{_location(where, first + i)} is beyond double precision") from None
        elif value is None:
            out[i] = np.nan
        elif codes is not None and isinstance(value, (str, bool)):
            out[i] = codes.get(value, np.nan)
        elif booleans and isinstance(value, bool):
            out[i] = value
        else:
            raise RefusedError(400, f"{_location(where, first + i)} must be a number or null, not {_kind(value)}")
    return out


def _location(where: str, i: int) -> str:
    """Where the i-th value of a column is; where documents have rows of their own, … stands for the document."""
    return where.replace("…", str(i), 1) if "[…]" in where else f"{where}: value {i}"


def check_names(model: ServedModel, given: Any, where: str) -> None:
    """Refuse features that are missing or that the model was not trained on."""
    if not model.feature_names:
        raise RefusedError(
            400, f"{where}: {model.name} was trained without feature names; give lists of numbers instead"
        )
    missing = [name for name in model.feature_names if name not in given]
    unknown = [name for name in given if name not in model.feature_set]
    problems = [f"lacks the feature{'s' * (len(missing) > 1)}{_listed(missing)}"] if missing else []
    problems += [f"has{_listed(unknown)}, which {model.name} was not trained on"] if unknown else []
    if problems:
        raise RefusedError(400, f"{where} {' and '.join(problems)}")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f" {', '.join(repr(str(name)[:60]) for name in names[:_LISTED])}{more}"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
