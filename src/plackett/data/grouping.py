"""Ids and groups: collects the rows of each query and keeps ids as given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.dtypes import StringDType

from plackett._base.errors import DataError


def ids_array(values: Any, name: str = "ids", *, blank: bool = False) -> np.ndarray:
    """Ids as an array of int64 or of strings, as they were given; whole numbers too large for int64 become strings.

    None, NaN and the like are not ids, nor is an empty text unless ``blank`` says so: documents may be without one.

    >>> ids_array(["q1", "q2"]).dtype.kind, ids_array([3, 4]).dtype.kind
    ('T', 'i')
    >>> ids_array(["q1", None], "qid")
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: qid[1] is missing (None); every entry needs an id
    """
    array = _ids_as_given(values, name)
    if not blank and array.dtype.kind == "T" and (empty := array == "").any():
        raise DataError(f"{name}[{int(empty.argmax())}] is empty; every entry needs an id")
    return array


def as_given(values: Any) -> np.ndarray:
    """Values as an array; numbers among texts are objects, where NumPy makes a text even of NaN.

    So are whole numbers of which NumPy makes floats, and the entries of a masked array, None where they are masked.
    """
    if type(values) is not np.ndarray and isinstance(values, np.ndarray) and np.ma.is_masked(values):
        return np.array(values.tolist(), object)
    array = np.asarray(values)
    if not isinstance(values, (list, tuple)) or array.dtype.kind not in "USf":
        return array
    kinds = {*map(type, values)}
    changed = kinds <= {int} if array.dtype.kind == "f" else not kinds <= {str, bytes}
    return np.array(values, object) if changed else array


def _ids_as_given(values: Any, name: str) -> np.ndarray:
    array = as_given(values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "iub":
        if array.dtype.kind == "u" and array.max(initial=0) > np.iinfo(np.int64).max:
            return array.astype(StringDType())
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        if not (whole == array).all():
            bad = int(np.flatnonzero(whole != array)[0])
            if np.isnan(array[bad]):
                raise DataError(f"{name}[{bad}] is missing (nan); every entry needs an id")
            raise DataError(f"{name}[{bad}] is {array[bad]}; ids are whole numbers or strings")
        return whole
    if array.dtype == StringDType():
        return array
    try:
        if array.dtype.kind == "S":
            return np.strings.decode(array, "utf-8").astype(StringDType())
        if array.dtype.kind == "T":  # with a mark for missing entries
            array = array.astype(object)
        if array.dtype.kind in "OmM":
            _refuse_missing(array.tolist(), name)
        return array.astype(StringDType())
    except (TypeError, UnicodeError):
        for i, each in enumerate(array.tolist()):
            _check_text(each, f"{name}[{i}]")
        raise


def _refuse_missing(values: list[Any], name: str) -> None:
    if {*map(type, values)} <= {str, int, np.str_, np.int64}:
        return
    for i, value in enumerate(values):
        if is_missing(value):
            raise DataError(f"{name}[{i}] is missing ({value}); every entry needs an id")


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT, pandas' NA.

    >>> [is_missing(value) for value in (None, float("nan"), "nan", 0)]
    [True, True, False, False]
    """
    same = value == value  # not so for NaN and NaT; pandas' NA does not say
    return value is None or not isinstance(same, (bool, np.bool_)) or not same


def _check_text(value: Any, where: str) -> None:
    try:
        value.decode() if isinstance(value, bytes) else str(value).encode()
    except UnicodeError:
        raise DataError(f"{where} is {value!r}, which cannot be written as UTF-8") from None


def group_rows(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Group rows by id: offsets, the id of each group in order of first appearance, and the rows in grouped order.

    The last is None if the rows are already grouped.

    >>> group_rows(np.array([7, 7, 3, 7]))
    (array([0, 3, 4]), array([7, 3]), array([0, 1, 3, 2]))
    """
    if ids.size == 0:
        return np.zeros(1, np.int64), ids, None
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    heads = ids[starts]
    first, run_group = first_appearances(heads)
    if first.size == heads.size:
        return np.append(starts, ids.size).astype(np.int64), heads, None
    from plackett._kernels.sort import order_of_groups

    group_of_row = np.repeat(run_group, np.diff(np.append(starts, ids.size)))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(group_of_row, minlength=first.size))))
    return offsets.astype(np.int64), heads[first], order_of_groups(group_of_row, offsets)


def first_appearances(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position of the first appearance of each id, ascending, and for each entry the number of its id in that order."""
    if ids.dtype.kind == "i" and (span := int(ids.max()) - int(ids.min()) + 1) <= 4 * ids.size + 1024:
        code = ids - ids.min()  # a table over the range of the ids is faster than sorting them
        by_code = np.full(span, -1)
        by_code[code[::-1]] = np.arange(ids.size)[::-1]  # the last one written stays: the first appearance
        first = np.sort(by_code[by_code >= 0])
        by_code[code[first]] = np.arange(first.size)
        return first, by_code[code]
    unique, first, group = np.unique(ids, return_index=True, return_inverse=True)
    number = np.empty(unique.size, np.int64)
    number[np.argsort(first)] = np.arange(unique.size)
    return np.sort(first), number[group]
