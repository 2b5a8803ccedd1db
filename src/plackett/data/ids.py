"""Ids in order, the distinct ones, and where an id is among others.

These functions stand in for NumPy's own on arrays of variable-width strings (``StringDType``), which cannot be trusted
up to NumPy 2.4: its quicksort, the default of ``sort``, ``argsort``, ``unique`` and ``intersect1d``, ends the process
with a segmentation fault on unlucky orders, and ``searchsorted`` compares strings of more than 15 bytes wrongly. Stable
sorts are right.
"""

from __future__ import annotations

import numpy as np
from numpy.dtypes import StringDType

__all__ = ["common", "distinct", "find", "order_of"]

#: Up to this many ids are looked for one by one, without sorting.
_FEW = 4


def order_of(ids: np.ndarray) -> np.ndarray:
    """The order that sorts ids; equal ones stay as they are.

    >>> order_of(np.array(["b", "c", "a"])).tolist()
    [2, 0, 1]
    """
    return np.argsort(ids, kind="stable")


def distinct(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids in ascending order, and the number of each entry among them.

    >>> values, number = distinct(np.array(["b", "c", "b"]))
    >>> values.tolist(), number.tolist()
    (['b', 'c'], [0, 1, 0])
    """
    values, _, number = np.unique(ids, return_index=True, return_inverse=True)  # with the index, the sort is stable
    return values, number.reshape(ids.shape)


def find(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Place of each wanted id among distinct known ones, -1 where it is not there.

    Numbers and strings are compared as text, so that ``7`` finds ``"7"``.

    >>> find(np.array(["b", "a"]), np.array(["a", "x"])).tolist()
    [1, -1]
    """
    known, wanted = _alike(known, wanted)
    if wanted.size <= _FEW and known.size:
        return np.array([np.argmax(same) if (same := known == one).any() else -1 for one in wanted], np.int64)
    values, number = distinct(np.concatenate([known, wanted]))
    place = np.full(values.size, -1)
    place[number[: known.size]] = np.arange(known.size)
    return place[number[known.size :]]


def common(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The ids that are in both, in ascending order; numbers and strings are compared as text.

    >>> common(np.array([3, 1, 3]), np.array([3, 4])).tolist()
    [3]
    """
    first, second = _alike(first, second)
    values, number = distinct(np.concatenate([first, second]))
    inside = np.zeros((2, values.size), np.bool_)
    inside[0, number[: first.size]] = True
    inside[1, number[first.size :]] = True
    return values[inside.all(axis=0)]


def _alike(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as they are, or both as text if only one has numbers."""
    if (first.dtype.kind in "iu") == (second.dtype.kind in "iu"):
        return first, second
    return first.astype(StringDType()), second.astype(StringDType())
