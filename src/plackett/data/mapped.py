"""Tables that are mapped from a file, and copies of them that stay on the disk."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from plackett._files.storage import MappedFile
from plackett.data.strings import Strings

#: A smaller table is copied in memory.
_LEAST_BYTES = 16 * 1024 * 1024
#: Rows that are copied at once.
_ROWS = 4_096
#: Rows of a block of whole queries that is in memory at a time.
BLOCK_ROWS = 1 << 16


def _buffer(X: Any) -> Any:
    base = X
    while isinstance(base, np.ndarray):
        base = base.base
    return base.obj if isinstance(base, memoryview) else base


def is_mapped(X: Any) -> bool:
    """Whether the numbers of an array are in a file that is mapped into memory."""
    return isinstance(_buffer(X), mmap.mmap)


def is_large(X: Any) -> bool:
    """Whether a table is mapped and so large that what is computed for each row is kept on the disk too.

    A table from `row_array` is large if the one that it was made for is.
    """
    if not isinstance(X, np.ndarray) or not is_mapped(X):
        return False
    buffer = _buffer(X)
    return X.nbytes >= _LEAST_BYTES or (getattr(buffer, "per_row", False) and X.nbytes == len(buffer))


def source_of(X: Any) -> str | None:
    """The path of the native file of which a mapped table has all rows, in some order; None for any other table."""
    path, rows = getattr(_buffer(X), "source", (None, -1))
    return path if rows == X.shape[0] else None


def note_source(X: Any, path: str) -> None:
    """Remember the native file whose rows a mapped table has."""
    if is_mapped(X):
        _buffer(X).source = path, X.shape[0]


def row_array(X: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Zeros for each row of a table; for one that `is_large`, in a file without a name instead of in memory.

    >>> row_array(np.ones((2, 3), np.float32), (2,)).tolist()
    [0.0, 0.0]
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    out = _on_disk(size) if size and is_large(X) else None
    if out is None:
        return np.zeros(shape, dtype)
    out.per_row = True
    return np.frombuffer(out, dtype).reshape(shape)


def query_blocks(offsets: np.ndarray, rows: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of whole queries with about `BLOCK_ROWS` rows each, a longer query alone.

    >>> list(query_blocks(np.array([0, 3, 4, 6, 9]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    start, end = 0, offsets.size - 1
    while start < end:
        stop = int(np.searchsorted(offsets, offsets[start] + (rows or BLOCK_ROWS), side="right")) - 1
        stop = min(max(stop, start + 1), end)
        yield start, stop
        start = stop


def row_blocks(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Ranges of `BLOCK_ROWS` rows.

    >>> list(row_blocks(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    size = size or BLOCK_ROWS
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """``X[rows]``. A large table that is mapped from a file is copied to another one, not into memory.

    The copy is in a file without a name in the folder for temporary files (``TMPDIR``) and vanishes with the array. If
    the disk has no room for it or the folder cannot be written to, it is made in memory.

    >>> take_rows(np.array([[1.0], [2.0]], np.float32), np.array([1, 0])).tolist()
    [[2.0], [1.0]]
    """
    if not isinstance(X, np.ndarray) or not is_mapped(X):
        return X[rows]
    size = rows.size * X[:1].nbytes
    out = _on_disk(size) if size >= _LEAST_BYTES else None
    if out is None:
        return X[rows]
    table = np.frombuffer(out, X.dtype).reshape(rows.size, *X.shape[1:])
    path = source_of(X)
    if path is not None and rows.size == X.shape[0]:
        out.source = path, rows.size
    return copy_rows(X, rows, table)


def rows_of(values: Any, rows: slice | np.ndarray) -> Any:
    """Some rows of an array, a matrix or a column of text: a view if they follow each other, else as in `take_rows`."""
    if isinstance(values, Strings):
        return values.take(np.arange(len(values))[rows])
    return values[rows] if isinstance(rows, slice) else take_rows(values, rows)


def rows_of_queries(X: Any, offsets: np.ndarray, queries: np.ndarray, new_offsets: np.ndarray) -> np.ndarray:
    """Rows of some queries, one query after another; ``new_offsets`` are the offsets of these queries in the result.

    >>> rows_of_queries(None, np.array([0, 2, 3]), np.array([1, 0]), np.array([0, 1, 3])).tolist()
    [2, 0, 1]
    """
    rows = row_array(X, (int(new_offsets[-1]),), np.int64)
    for lo, hi in query_blocks(new_offsets):
        starts = np.repeat(offsets[queries[lo:hi]] - new_offsets[lo:hi], np.diff(new_offsets[lo : hi + 1]))
        rows[new_offsets[lo] : new_offsets[hi]] = starts + np.arange(new_offsets[lo], new_offsets[hi])
    return rows


def copy_rows(values: np.ndarray, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``out[:] = values[rows]``, some rows at a time."""
    for start in range(0, rows.size, _ROWS):
        out[start : start + _ROWS] = values[rows[start : start + _ROWS]]
    return out


def _on_disk(size: int) -> MappedFile | None:
    if not hasattr(os, "posix_fallocate"):
        return None
    try:
        with tempfile.TemporaryFile(prefix="plackett-") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a page without room on the disk would end the process later
            return MappedFile(file.fileno(), size, access=mmap.ACCESS_WRITE)
    except OSError:  # no room, a folder that cannot be written to, too many open files
        return None


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
