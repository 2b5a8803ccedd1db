"""Validation of a dataset's arrays: every error names the array, the position and the value found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.nearest import plural
from plackett.data.fields import FIELDS
from plackett.data.grouping import group_rows, ids_array
from plackett.data.times import times

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def features(X: Any) -> np.ndarray | csr_matrix | None:
    """Features as a float32 table in C order or a CSR matrix."""
    if X is None:
        return None
    if hasattr(X, "tocsr"):
        from scipy.sparse import csr_matrix

        sparse = csr_matrix(X, dtype=np.float32)
        _refuse_infinite(sparse.data)
        return sparse
    try:
        dense = np.ascontiguousarray(unmasked(X, np.float32), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"X must be a table of numbers: {error}") from None
    if dense.ndim != 2:
        raise DataError(
            f"X must be two-dimensional (rows, features), got shape {dense.shape}. Reshape your data: X.reshape(1, -1) "
            "is one document, X.reshape(-1, 1) one feature"
        )
    _refuse_infinite(dense)
    return dense


def unmasked(values: Any, dtype: Any = np.float64) -> Any:
    """Numbers with NaN for the masked entries of a masked array, where NumPy gives what is under the mask.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True])).tolist(), unmasked([1, 2])
    ([1.0, nan], [1, 2])
    """
    if type(values) is np.ndarray or not isinstance(values, np.ndarray) or not np.ma.is_masked(values):
        return values
    if np.dtype(dtype).kind != "f":
        raise ValueError(f"entry {int(np.ma.getmaskarray(values).argmax())} is masked")
    return np.ma.filled(values.astype(dtype), np.nan)


def _refuse_infinite(values: np.ndarray) -> None:
    # the sum of finite numbers is finite, and costs no array of flags; float64 cannot overflow here
    with np.errstate(invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    infinite = np.isinf(values)
    if infinite.any():
        index = tuple(int(i) for i in np.argwhere(infinite)[0])
        where = f"X[{index[0]}, {index[1]}]" if len(index) == 2 else "X"
        raise DataError(f"{where} is infinite; a feature is a finite number or NaN for a missing value")


def column(values: Any, name: str, dtype: Any, ndim: int | None = 1) -> np.ndarray:
    """Numbers of one type and number of dimensions."""
    try:
        column = np.ascontiguousarray(unmasked(values, dtype), dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers: {error}") from None
    if ndim is not None and column.ndim != ndim:
        raise DataError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {column.shape}")
    return column


def positions(values: Any) -> np.ndarray:
    """Positions at which documents were shown: whole numbers from 1."""
    numbers = column(values, "positions", np.float64)
    bad = np.flatnonzero(~((numbers >= 1) & (numbers <= np.iinfo(np.int32).max) & (numbers == np.floor(numbers))))
    if bad.size:
        raise DataError(
            f"positions[{bad[0]}] is {numbers[bad[0]]:g}; a position is a whole number, and 1 is the top of the list"
        )
    return numbers.astype(np.int32)


def query_features(values: Any) -> np.ndarray:
    """Features of queries: a table of numbers, NaN where they are missing."""
    table = column(values, "query_features", np.float32, ndim=2)
    if np.isinf(table).any():
        raise DataError("query_features has infinite values")
    return table


def weights(values: Any, name: str, ndim: int | None = 1) -> np.ndarray | None:
    """Weights of documents or queries: finite numbers of 0 or more."""
    if values is None:
        return None
    numbers = column(values, name, np.float64, ndim)
    if not (numbers >= 0).all() or np.isinf(numbers).any():
        index = int(np.flatnonzero(~((numbers >= 0) & np.isfinite(numbers)))[0])
        raise DataError(f"{name}[{index}] is {numbers.flat[index]:g}, not a weight: give finite numbers of 0 or more")
    return numbers


def stored(name: str, values: Any) -> Any:
    """The values of a field, checked, in the type that a dataset and its files have."""
    field = FIELDS[name]
    if values is None or field.dtype is str:
        return values
    if name in _CHECKS:
        return _CHECKS[name](values)
    if field.dtype is None:
        return ids_array(values, name, blank=True)
    return column(values, name, field.dtype, 1 + (field.width is not None) if field.per == "query" else None)


#: The fields with rules of their own.
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "sample_weight": partial(weights, name="sample_weight"),
    "query_weight": partial(weights, name="query_weight"),
    "query_time": partial(times, name="query_time"),
    "positions": positions,
    "query_features": query_features,
}


def check_length(name: str, values: Any, n_rows: int, n_queries: int) -> None:
    """Raise an error unless a field has an entry for each row or query."""
    per_query = name in FIELDS and FIELDS[name].per == "query"
    length = values.shape[0] if name == "X" else len(values)
    if length != (n_queries if per_query else n_rows):
        size = plural(n_queries, "query", "queries") if per_query else plural(n_rows, "row")
        raise DataError(f"{name} has {length} entries, but the data have {size}")


def labels(values: Any) -> np.ndarray | None:
    """Labels: finite numbers."""
    if values is None:
        return None
    numbers = column(values, "y", np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise DataError(
            f"label y[{bad[0]}] is {numbers[bad[0]]}; every label must be a finite number (use -1 for an unjudged "
            "document)"
        )
    return numbers


def feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """A name for each feature."""
    if names is None:
        return None
    given = tuple(str(name) for name in names)
    if len(given) != n_features:
        raise DataError(f"{len(given)} feature names for {plural(n_features, 'feature')}")
    return given


def count_rows(features: Any, labels: Any, qid: Any, group: Any, docids: Any) -> int:
    """The common number of rows of all arrays."""
    if group is not None:
        sizes = {"group (its sum)": int(np.sum(group))}
    else:
        sizes = {}
    for name, value in (("X", features), ("y", labels), ("qid", qid), ("docids", docids)):
        if value is not None:
            sizes[name] = value.shape[0] if hasattr(value, "shape") else len(value)
    if not sizes:
        raise DataError("no rows: give X, y or qid")
    if len(set(sizes.values())) > 1:
        raise DataError("lengths differ: " + ", ".join(f"{name} has {size}" for name, size in sizes.items()))
    return next(iter(sizes.values()))


def queries(qid: Any, group: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Offsets, ids and grouped rows from ids of rows or sizes of groups; see `group_rows`."""
    if qid is not None and group is not None:
        raise DataError("give qid or group, not both")
    if group is not None:
        sizes = column(group, "group", np.int64)
        if (sizes < 0).any():
            raise DataError(f"group[{int(np.flatnonzero(sizes < 0)[0])}] is negative")
        return np.concatenate(([0], np.cumsum(sizes))), np.arange(sizes.size), None
    if qid is None:
        return np.array([0, n_rows], np.int64), np.zeros(1, np.int64), None
    return group_rows(ids_array(qid, "qid"))
