"""Tables that are mapped from a file, and copies of them that stay on the disk."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = ["is_mapped", "release_memory", "take_rows"]

#: A smaller table is copied in memory.
_LEAST_BYTES = 16 * 1024 * 1024
#: Rows that are copied at once.
_ROWS = 4_096


def is_mapped(X: Any) -> bool:
    """Whether the numbers of an array are in a file that is mapped into memory."""
    base = X
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """``X[rows]``. A large table that is mapped from a file is copied to another one, not into memory.

    The copy is in a file without a name in the folder for temporary files (``TMPDIR``) and vanishes with the array. If
    the disk has no room for it, it is made in memory.

    >>> take_rows(np.array([[1.0], [2.0]], np.float32), np.array([1, 0])).tolist()
    [[2.0], [1.0]]
    """
    if not isinstance(X, np.ndarray) or not is_mapped(X):
        return X[rows]
    size = rows.size * X.shape[1] * X.itemsize
    out = _on_disk(size) if size >= _LEAST_BYTES else None
    if out is None:
        return X[rows]
    table = np.frombuffer(out, X.dtype).reshape(rows.size, X.shape[1])
    for start in range(0, rows.size, _ROWS):
        table[start : start + _ROWS] = X[rows[start : start + _ROWS]]
    return table


def _on_disk(size: int) -> mmap.mmap | None:
    if not hasattr(os, "posix_fallocate"):
        return None
    with tempfile.TemporaryFile(prefix="plackett-") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)  # a page without room on the disk would end the process later
        except OSError:
            return None
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_WRITE)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not the GNU C library
        return None


def release_memory() -> None:
    """Give memory that was freed back to the system, which the C library puts off."""
    trim = _trim()
    if trim is not None:
        trim(0)
