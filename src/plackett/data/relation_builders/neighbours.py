"""The nearest neighbours of each document among those of its query, by the cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.data.required import check_dataset

__all__ = ["Neighbours"]

#: How vectors are prepared.
_SCALES = ("query", "none")


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    r"""Similarity of the documents of a query: the cosine of their vectors, for the k nearest of each document,

    .. math:: R_{ij} = \max\Big(0, \frac{v_i \cdot v_j}{\lVert v_i \rVert \lVert v_j \rVert}\Big), \qquad R_{ii} = 0.

    Called with a dataset it makes a `Relation`. Relational rankers take the object itself in place of the name of a
    relation, and build it from the features of whatever they are given. A pair is in the relation if the second
    document is among the k nearest of the first; the rankers count it in both directions. Equally near documents are
    taken in the order of their rows.

    Parameters
    ----------
    k
        Neighbours of each document; None for all documents of the query with a similarity above ``minimum``.
    minimum
        Least similarity of a pair, from 0; pairs at 0 are left out.
    scale
        ``"query"`` first centres each feature on its mean in the query and divides it by its standard deviation there:
        right for ranking features, whose units differ. ``"none"`` compares the vectors as they are: right for term
        weights and embeddings.
    features
        Numbers of the features to compare; None for all.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> Neighbours(k=1, scale="none")(data).to_pairs().tolist()
    [[0, 1], [1, 0], [2, 1]]
    >>> vectors = [[0.0, 2.0], [1.0, 0.0], [3.0, 0.0]]  # other vectors than the features, one row per document
    >>> Neighbours(k=1, scale="none")(data, vectors).to_pairs().tolist()
    [[1, 2], [2, 1]]
    """

    k: int | None = 10
    minimum: float = 0.0
    scale: str = "query"
    features: tuple[int, ...] | None = None

    def __call__(self, data: RankingDataset, vectors: Any = None, *, n_jobs: int | None = None) -> Relation:
        """The relation over the rows of a dataset, by its features or by vectors in its grouped order.

        Parameters
        ----------
        vectors
            Table or SciPy matrix with a row per document, such as term weights; None for the features.
        """
        from scipy.sparse import issparse

        check_dataset(data)
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 1):
            raise DataError(f"k={self.k!r}; give 1 neighbour or more, or None for all")
        choice("scale", self.scale, _SCALES)
        number("minimum", self.minimum, least=0.0, most=1.0)
        table = data.X if vectors is None else vectors
        if issparse(table) and self.scale == "none":
            return self._sparse(data, table, n_jobs)
        table = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        if table.ndim != 2 or table.shape[0] != data.n_rows or table.dtype.kind not in "biuf":
            raise DataError(
                f"vectors of {table.dtype} have shape {table.shape}; give numbers, a row for each of the {data.n_rows} "
                "documents"
            )
        if self.features is not None:
            table = table[:, list(self._columns(table.shape[1]))]
        table = np.ascontiguousarray(np.nan_to_num(table.astype(np.float32, copy=False), nan=0.0))
        unit = np.empty(table.shape, np.float32)
        over_queries(_to_unit, data.offsets, table, self.scale == "query", unit, n_jobs=n_jobs)
        return self._collected(data, _nearest_dense, (unit,), n_jobs)

    def _columns(self, width: int) -> tuple[int, ...]:
        chosen = tuple(int(j) for j in self.features or ())
        if not chosen or min(chosen) < 0 or max(chosen) >= width:
            raise DataError(f"features={self.features!r}; the vectors have the columns 0 to {width - 1}")
        return chosen

    def _sparse(self, data: RankingDataset, table: Any, n_jobs: int | None) -> Relation:
        matrix = table.tocsr().astype(np.float32)
        if matrix.shape[0] != data.n_rows:
            raise DataError(f"vectors have {matrix.shape[0]} rows, but there are {data.n_rows} documents")
        if self.features is not None:
            matrix = matrix[:, list(self._columns(matrix.shape[1]))]
        length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1), np.float64).ravel())
        weight = matrix.data / np.repeat(np.where(length > 0, length, 1.0), np.diff(matrix.indptr))
        pointers, terms = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        parts = (pointers, terms, weight.astype(np.float32), int(matrix.shape[1]))
        return self._collected(data, _nearest_sparse, parts, n_jobs)

    def _collected(self, data: RankingDataset, search: Any, parts: tuple[Any, ...], n_jobs: int | None) -> Relation:
        """Run the search with room for the neighbours of every row, and drop the unused slots."""
        most = np.maximum(data.group - 1, 0)
        capacity = most if self.k is None else np.minimum(most, self.k)
        pointers = np.concatenate(([0], np.cumsum(np.repeat(capacity, data.group))))
        other, near = np.full(int(pointers[-1]), -1, np.int64), np.zeros(int(pointers[-1]))
        over_queries(
            search, data.offsets, *parts, pointers, self.minimum, other, near,
            n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD,
        )  # fmt: skip
        row = np.repeat(np.arange(data.n_rows), np.diff(pointers))
        kept = other >= 0
        return Relation(row[kept], other[kept], near[kept])


@kernel
def _to_unit(lo, hi, offsets, table, scaled, out):
    """Vectors of length 1, each feature centred and scaled within the query first where asked; zero stays zero."""
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        for j in range(table.shape[1]):
            mean, spread = 0.0, 1.0
            if scaled and n > 0:
                for i in range(first, last):
                    mean += table[i, j]
                mean /= n
                square = 0.0
                for i in range(first, last):
                    square += (table[i, j] - mean) ** 2
                spread = np.sqrt(square / n)
            flat = spread <= 1e-6 * abs(mean) or spread == 0.0
            for i in range(first, last):
                out[i, j] = 0.0 if flat else (table[i, j] - mean) / spread
        for i in range(first, last):
            length = 0.0
            for j in range(table.shape[1]):
                length += float(out[i, j]) ** 2
            if length > 0.0:
                scale = 1.0 / np.sqrt(length)
                for j in range(table.shape[1]):
                    out[i, j] *= scale


@kernel
def _keep(value, document, begin, end, filled, other, near):
    """Enter a document among the nearest found so far, by falling similarity; returns how many there are."""
    size = end - begin
    if filled == size:
        if value <= near[end - 1]:
            return filled
        p = end - 1
    else:
        p = begin + filled
        filled += 1
    while p > begin and near[p - 1] < value:
        near[p], other[p] = near[p - 1], other[p - 1]
        p -= 1
    near[p], other[p] = value, document
    return filled


@kernel
def _by_document(begin, end, other, near):
    """Sort the neighbours of a row by their row numbers."""
    for a in range(begin + 1, end):
        document, value = other[a], near[a]
        p = a
        while p > begin and other[p - 1] > document:
            other[p], near[p] = other[p - 1], near[p - 1]
            p -= 1
        other[p], near[p] = document, value


@kernel
def _nearest_dense(lo, hi, offsets, unit, pointers, minimum, other, near):
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        for i in range(first, last):
            begin, end, filled = pointers[i], pointers[i + 1], 0
            for o in range(first, last):
                if o == i:
                    continue
                dot = np.float32(0.0)
                for j in range(unit.shape[1]):
                    dot += unit[i, j] * unit[o, j]
                if dot > 0.0 and dot >= minimum:
                    filled = _keep(min(float(dot), 1.0), o, begin, end, filled, other, near)
            _by_document(begin, begin + filled, other, near)


@kernel
def _nearest_sparse(lo, hi, offsets, rows, terms, weight, width, pointers, minimum, other, near):
    spread = np.zeros(width, np.float32)
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        for i in range(first, last):
            begin, end, filled = pointers[i], pointers[i + 1], 0
            for p in range(rows[i], rows[i + 1]):
                spread[terms[p]] = weight[p]
            for o in range(first, last):
                if o == i:
                    continue
                dot = 0.0
                for p in range(rows[o], rows[o + 1]):
                    dot += float(weight[p]) * float(spread[terms[p]])
                if dot > 0.0 and dot >= minimum:
                    filled = _keep(min(dot, 1.0), o, begin, end, filled, other, near)
            for p in range(rows[i], rows[i + 1]):
                spread[terms[p]] = 0.0
            _by_document(begin, begin + filled, other, near)
