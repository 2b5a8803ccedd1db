"""Kernels of query-level normalisation: each feature brought to one scale within each query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Larger numbers are made smaller by a power of two before they are summed and squared.
_HUGE, _TINY = 1e140, 2.0**-540


@kernel
def _range(X, a, b, low, high):
    """Least and largest value of each column over the rows ``[a, b)``, NaN left out."""
    low[:] = np.inf
    high[:] = -np.inf
    for i in range(a, b):
        for j in range(X.shape[1]):
            v = X[i, j]
            low[j] = v if v < low[j] else low[j]
            high[j] = v if v > high[j] else high[j]


@kernel
def _units(low, high, unit):
    """Factor for each column so that differences, sums and squares do not overflow; 1 unless it is huge."""
    for j in range(unit.size):
        unit[j] = _TINY if max(abs(low[j]), abs(high[j])) > _HUGE else 1.0


@kernel
def _shift_and_divide(X, a, b, unit, shift, divisor, out):
    for i in range(a, b):
        for j in range(X.shape[1]):
            out[i, j] = (X[i, j] * unit[j] - shift[j]) / divisor[j]


# An infinite divisor below sends a constant feature to 0 and leaves NaN as it is.


@kernel
def _minmax(lo, hi, offsets, X, out):
    d = X.shape[1]
    low, high, unit = np.empty(d), np.empty(d), np.empty(d)
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        _range(X, a, b, low, high)
        _units(low, high, unit)
        for j in range(d):
            high[j] = (high[j] * unit[j] - low[j] * unit[j]) if high[j] > low[j] else np.inf
            low[j] *= unit[j]
        _shift_and_divide(X, a, b, unit, low, high, out)


@kernel
def _zscore(lo, hi, offsets, X, out):
    d = X.shape[1]
    low, high, mean, count, deviation = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    unit = np.empty(d)
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        _range(X, a, b, low, high)
        _units(low, high, unit)
        mean[:] = 0.0
        count[:] = 0.0
        deviation[:] = 0.0
        for i in range(a, b):
            for j in range(d):
                v = X[i, j] * unit[j]
                present = v == v
                mean[j] += v if present else 0.0
                count[j] += present
        for j in range(d):
            mean[j] /= max(count[j], 1.0)
        for i in range(a, b):
            for j in range(d):
                v = X[i, j] * unit[j] - mean[j]
                deviation[j] += v * v if v == v else 0.0
        for j in range(d):  # a constant is told by its range: rounding of the mean can leave a tiny deviation
            if high[j] > low[j]:
                deviation[j] = np.sqrt(deviation[j] / (count[j] - 1.0))
            else:
                deviation[j] = np.inf
        _shift_and_divide(X, a, b, unit, mean, deviation, out)


@kernel
def _sum(lo, hi, offsets, X, out):
    d = X.shape[1]
    zero, total, low, high, unit = np.zeros(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        _range(X, a, b, low, high)
        _units(low, high, unit)
        total[:] = 0.0
        for i in range(a, b):
            for j in range(d):
                v = abs(X[i, j] * unit[j])
                total[j] += v if v == v else 0.0
        for j in range(d):
            total[j] = total[j] if total[j] > 0.0 else np.inf
        _shift_and_divide(X, a, b, unit, zero, total, out)


@kernel
def _rank(lo, hi, offsets, X, out):
    n_max = longest(lo, hi, offsets)
    rows = np.empty(n_max, np.int64)
    values, order, spare_values, spare_order = sorting_memory(n_max)
    for q in range(lo, hi):
        for j in range(X.shape[1]):
            n = 0
            for i in range(offsets[q], offsets[q + 1]):
                out[i, j] = X[i, j]
                if X[i, j] == X[i, j]:
                    values[n] = X[i, j]
                    rows[n] = i
                    n += 1
            argsort_descending(values, order, spare_values, spare_order, n)
            first = 0
            while first < n:  # from one group of ties to the next
                last = first
                while last + 1 < n and values[last + 1] == values[first]:
                    last += 1
                constant = last - first == n - 1
                scaled_rank = 0.0 if constant else 1.0 - 0.5 * (first + last) / (n - 1.0)
                for r in range(first, last + 1):
                    out[rows[order[r]], j] = scaled_rank
                first = last + 1


@kernel
def _sum_sparse(lo, hi, offsets, indptr, indices, values, n_features, out):
    total, huge = np.zeros(n_features), np.zeros(n_features)
    for q in range(lo, hi):
        a, b = indptr[offsets[q]], indptr[offsets[q + 1]]
        for p in range(a, b):
            v = abs(np.float64(values[p]))
            total[indices[p]] += v if v == v else 0.0
            huge[indices[p]] += v * _TINY if v == v else 0.0
        for p in range(a, b):
            divisor = total[indices[p]]
            if divisor == np.inf:
                out[p] = values[p] * _TINY / huge[indices[p]]
            else:
                out[p] = values[p] / divisor if divisor > 0.0 else values[p]
        for p in range(a, b):
            total[indices[p]] = 0.0
            huge[indices[p]] = 0.0


#: Normalisations by name.
METHODS = {"minmax": _minmax, "zscore": _zscore, "sum": _sum, "rank": _rank}


def check_method(method: str, X: Any) -> None:
    """Reject an unknown method, and sparse features that the method would make dense."""
    choice("method", method, METHODS)
    if hasattr(X, "tocsr") and method != "sum":
        raise DataError(
            f"X is sparse, and {method!r} would make it dense (it moves zeros); use method='sum', which keeps zeros, "
            "or give X.toarray()"
        )


def scale_queries(
    X: np.ndarray | csr_matrix, offsets: np.ndarray, method: str = "minmax", n_jobs: int | None = None
) -> np.ndarray | csr_matrix:
    """Normalise every feature within every query; the rows of a query are contiguous. See `QueryNormalizer`.

    >>> scale_queries(np.array([[1.0], [3.0], [5.0], [7.0]]), np.array([0, 3, 4])).ravel().tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    check_method(method, X)
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X)
        out = np.empty_like(X)
        over_queries(METHODS[method], offsets, X, out, n_jobs=n_jobs)
        return out
    matrix = X.tocsr()
    values = np.empty_like(matrix.data)
    parts = matrix.indptr, matrix.indices, matrix.data, matrix.shape[1]
    over_queries(_sum_sparse, offsets, *parts, values, n_jobs=n_jobs)
    return type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def beside(X: np.ndarray | csr_matrix, scaled: np.ndarray | csr_matrix) -> np.ndarray | csr_matrix:
    """The features, and their normalised values in further columns."""
    if hasattr(X, "tocsr"):
        from scipy.sparse import hstack

        return hstack([X, scaled], format="csr", dtype=scaled.dtype)
    return np.hstack([X, scaled])


def with_relative_names(names: Iterable[Any], columns: Iterable[int]) -> list[Any]:
    """Names of features, as they are, then those of the normalised ones.

    >>> with_relative_names(["bm25", "year"], [0])
    ['bm25', 'year', 'bm25 in list']
    """
    names = list(names)
    further = [f"{names[j]} in list" for j in columns]
    if taken := set(names) & set(further):
        raise DataError(f"there is a feature {sorted(taken)[0]!r} already; give it another name")
    return names + further
