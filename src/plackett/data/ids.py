"""Ids in order, the distinct ones, and where an id is among others.

These functions stand in for NumPy's own on arrays of variable-width strings (``StringDType``), which cannot be trusted
up to NumPy 2.4: its quicksort, the default of ``sort``, ``argsort``, ``unique`` and ``intersect1d``, ends the process
with a segmentation fault on unlucky orders, and ``searchsorted`` compares strings of more than 15 bytes wrongly. Stable
sorts are right.
"""

from __future__ import annotations

import numpy as np
from numpy.dtypes import StringDType

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
    """Position of each wanted id among the known ones: the first if there are several, -1 if there is none.

    Ids of different types are compared as text, so that ``7`` finds ``"7"``.

    >>> find(np.array(["b", "a"]), np.array(["a", "x"])).tolist()
    [1, -1]
    """
    known, wanted = _alike(known, wanted)
    if wanted.size <= _FEW and known.size:
        # slices, as NumPy drops NUL characters at the end of single strings
        matches = (known == wanted[i : i + 1] for i in range(wanted.size))
        return np.array([np.argmax(same) if same.any() else -1 for same in matches], np.int64)
    _, first, number = np.unique(np.concatenate([known, wanted]), return_index=True, return_inverse=True)
    return np.where(first < known.size, first, -1)[number[known.size :]]


def common(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The ids that are in both, in ascending order; ids of different types are compared as text.

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
    """Both as they are if they are of one kind, or else both as text."""
    if first.dtype.kind == second.dtype.kind != "O":
        return first, second
    return first.astype(StringDType()), second.astype(StringDType())
