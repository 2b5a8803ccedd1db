"""Products of a feature table with weights, summed in float64 without a float64 copy of the table.

Neither result depends on the number of threads, and the scores of a row do not depend on the other rows, which BLAS
does not guarantee.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett.data.read_only import read_only

#: Rows are summed in blocks before the sums are added; they do not depend on the threads, nor does the result.
_BLOCK_ROWS, _MOST_BLOCKS = 4096, 64


def table_times(X: Any, weights: np.ndarray, n_jobs: int | None = None, out: np.ndarray | None = None) -> np.ndarray:
    """``X @ weights``: one row per row of the table, one column per output; written to ``out`` where it is given.

    >>> table_times(np.array([[1, 2], [3, 4]], np.float32), np.array([[10.0], [1.0]])).tolist()
    [[12.0], [34.0]]
    """
    if X.shape[1] != weights.shape[0]:
        raise DataError(f"a table of {X.shape[1]} features with weights for {weights.shape[0]}")
    if out is None:
        out = np.zeros((X.shape[0], weights.shape[1]))
    times, _, table = _parts(X)
    over_queries(times, read_only(_blocks(X)), *table, read_only(np.ascontiguousarray(weights.T)), out, n_jobs=n_jobs)
    return out


def transposed_times(X: Any, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """``X.T @ values``: one row per feature, one column per output.

    >>> transposed_times(np.array([[1, 2], [3, 4]], np.float32), np.array([[10.0], [1.0]])).tolist()
    [[13.0], [24.0]]
    """
    return np.ascontiguousarray(block_sums(X, values, _blocks(X), n_jobs).sum(axis=0).T)


def block_sums(X: Any, values: np.ndarray, blocks: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """``values[b].T @ X[b]`` for the rows b of each block, which are those from one of ``blocks`` to the next.

    >>> block_sums(np.array([[1, 2], [3, 4]], np.float32), np.array([[10.0], [1.0]]), np.array([0, 1, 2])).tolist()
    [[[10.0, 20.0]], [[3.0, 4.0]]]
    """
    out = np.zeros((blocks.size - 1, values.shape[1], X.shape[1]))
    _, times, table = _parts(X)
    over_queries(times, read_only(blocks), *table, read_only(np.ascontiguousarray(values)), out, n_jobs=n_jobs)
    return out


def _blocks(X: Any) -> np.ndarray:
    rows = X.shape[0]
    return np.append(np.arange(0, rows, max(_BLOCK_ROWS, -(-rows // _MOST_BLOCKS))), rows)


def _parts(X: Any) -> tuple[Any, Any, tuple[np.ndarray, ...]]:
    """The two kernels for a table, and its arrays."""
    if isinstance(X, np.ndarray):
        return _dense, _dense_transposed, (read_only(X),)
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data
    return _sparse, _sparse_transposed, tuple(read_only(array) for array in arrays)


@kernel(fastmath=REASSOC)
def _dense(lo, hi, blocks, X, weights, out):
    for i in range(blocks[lo], blocks[hi]):
        for k in range(weights.shape[0]):
            total = 0.0
            for j in range(X.shape[1]):
                total += weights[k, j] * X[i, j]
            out[i, k] = total


@kernel
def _dense_transposed(lo, hi, blocks, X, values, out):
    for b in range(lo, hi):
        for i in range(blocks[b], blocks[b + 1]):
            for k in range(values.shape[1]):
                v = values[i, k]
                for j in range(X.shape[1]):
                    out[b, k, j] += v * X[i, j]


@kernel
def _sparse(lo, hi, blocks, pointers, indices, data, weights, out):
    for i in range(blocks[lo], blocks[hi]):
        for k in range(weights.shape[0]):
            total = 0.0
            for p in range(pointers[i], pointers[i + 1]):
                total += weights[k, indices[p]] * data[p]
            out[i, k] = total


@kernel
def _sparse_transposed(lo, hi, blocks, pointers, indices, data, values, out):
    for b in range(lo, hi):
        for i in range(blocks[b], blocks[b + 1]):
            for p in range(pointers[i], pointers[i + 1]):
                for k in range(values.shape[1]):
                    out[b, k, indices[p]] += values[i, k] * data[p]
