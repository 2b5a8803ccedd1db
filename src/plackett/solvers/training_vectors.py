"""The vector that a step learns from: the difference of two rows, or a row with its sign and a constant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._files.prefetch import prefetch
from plackett._kernels.kernel import REASSOC, kernel
from plackett.data.mapped import row_array

#: Numbers of 4 bytes in a cache line.
_LINE = 16


class TrainingRows(NamedTuple):
    """Features, dense or CSR, as flat arrays: ``columns`` is empty if they are dense. The same code serves both.

    Columns are unsigned, because Numba checks signed indices for negative values that count from the end.
    """

    values: np.ndarray
    columns: np.ndarray
    pointers: np.ndarray
    inverse: np.ndarray  # what each feature is multiplied by


def rows_of(X: Any, scale: np.ndarray) -> TrainingRows:
    """The features of a dataset, to be divided by ``scale``.

    >>> rows_of(np.zeros((2, 3), np.float32), np.ones(3)).pointers.tolist()
    [0, 3, 6]
    """
    if isinstance(X, np.ndarray):
        pointers = row_array(X, (X.shape[0] + 1,), np.int64)
        pointers[1:] = X.shape[1]
        parts = np.ascontiguousarray(X).reshape(-1), np.empty(0, np.uint32), np.cumsum(pointers, out=pointers)
    else:
        if not X.has_sorted_indices:
            X = X.sorted_indices()
        parts = X.data, X.indices.astype(np.int32, copy=False).view(np.uint32), X.indptr.astype(np.int64)
    # all read-only: Numba would compile each kernel again for writable arrays
    frozen = [part.view() for part in (*parts, 1.0 / scale)]
    for part in frozen:
        part.flags.writeable = False
    return TrainingRows(*frozen)


@kernel
def _dense_difference(x, z, inverse, out):  # type: ignore[no-untyped-def]
    for j in range(inverse.size):
        out[j] = (np.float64(x[j]) - np.float64(z[j])) * inverse[j]


@kernel(inline=True)
def difference(values, columns, pointers, inverse, u, v, out, indices):  # type: ignore[no-untyped-def]
    """x_u − x_v into ``out`` (and their columns into ``indices``, if sparse); returns the number of entries.

    If sparse, a feature that both rows have occurs twice: merging takes longer than all the rest of a step.
    """
    i = pointers[u]
    j = pointers[v]
    if columns.size == 0:
        d = inverse.size
        _dense_difference(values[i : i + d], values[j : j + d], inverse, out)  # slices, otherwise it does not vectorise
        out[d] = 0.0  # the constant of single rows
        return d + 1
    n = 0
    for p in range(i, pointers[u + 1]):
        out[n] = values[p] * inverse[columns[p]]
        indices[n] = columns[p]
        n += 1
    for p in range(j, pointers[v + 1]):
        out[n] = -values[p] * inverse[columns[p]]
        indices[n] = columns[p]
        n += 1
    return n


@kernel(inline=True)
def squared_length(square, values, columns, pointers, inverse, u, v, scratch):  # type: ignore[no-untyped-def]
    """|x_u − x_v|² of sparse rows from the sum of their squared lengths; ``scratch`` is all zeros before and after.

    The result is 0 for rows that differ by less than rounding.
    """
    for p in range(pointers[u], pointers[u + 1]):
        scratch[columns[p]] = values[p] * inverse[columns[p]]
    product = 0.0
    for p in range(pointers[v], pointers[v + 1]):
        product += scratch[columns[p]] * values[p] * inverse[columns[p]]
    for p in range(pointers[u], pointers[u + 1]):
        scratch[columns[p]] = 0.0
    length = square - 2.0 * product
    return length if length > 1e-14 * square else 0.0


@kernel(inline=True)
def ask_for(values, columns, pointers, row):  # type: ignore[no-untyped-def]
    """Prefetch a row that will be needed soon."""
    for p in range(pointers[row], pointers[row + 1], _LINE):
        prefetch(values, p)
        if columns.size:
            prefetch(columns, p)


@kernel(inline=True)
def signed(values, columns, pointers, inverse, u, side, constant, out, indices):  # type: ignore[no-untyped-def]
    """``side`` · (x_u, constant) into ``out``; returns the number of entries."""
    n = pointers[u + 1] - pointers[u]
    for k in range(n):
        p = pointers[u] + k
        if columns.size == 0:
            out[k] = side * values[p] * inverse[k]
        else:
            out[k] = side * values[p] * inverse[columns[p]]
            indices[k] = columns[p]
    out[n] = side * constant
    if columns.size:
        indices[n] = inverse.size
    return n + 1


@kernel(fastmath=REASSOC, inline=True)
def measure(x, n, indices, dense, weights):  # type: ignore[no-untyped-def]
    """Product of an example with the weights, and its squared length.

    Nothing is written here: otherwise the order of summation would depend on memory addresses.
    """
    product = 0.0
    square = 0.0
    if dense:
        for k in range(n):
            product += weights[k] * x[k]
            square += x[k] * x[k]
    else:
        for k in range(n):
            product += weights[indices[k]] * x[k]
            square += x[k] * x[k]
    return product, square
