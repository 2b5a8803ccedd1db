"""Systems (I + L) z = b with the Laplacian L of a graph within each query: conjugate gradients, forests in one pass.

Nothing is inverted or made dense: a matrix is its list of related pairs, and each query is solved by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, kernel_from, over_queries
from plackett._kernels.scratch import lanes, longest
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation

#: Size of the residual, relative to the right-hand side, at which conjugate gradients stop.
TOLERANCE = 1e-12


#: Largest strength of a relation and weight of a pair: scores would be lost in the rounding of anything larger.
STRONGEST = 1e12


def checked(name: str, relation: Relation) -> Relation:
    """Reject negative weights, for which there is no minimum, and weights so large that rounding hides the scores."""
    if relation.weight is not None and not ((relation.weight >= 0) & (relation.weight <= STRONGEST)).all():
        bad = int(np.argmax((relation.weight < 0) | (relation.weight > STRONGEST)))
        raise DataError(
            f"relation {name!r}: a pair has the weight {relation.weight[bad]:g}; give a number from 0 to {STRONGEST:g}"
        )
    return relation


@dataclass(frozen=True, eq=False)
class Laplacian:
    """I + Σ_k β_k L(W_k), where W_k is the mean of relation k and its transpose, and L(W) = diag(row sums) − W.

    Symmetric and positive definite with row sums 1: `solve` keeps the sum of each query.
    """

    offsets: np.ndarray
    pointers: np.ndarray
    other: np.ndarray
    weight: np.ndarray
    diagonal: np.ndarray
    n_jobs: int | None = None

    @classmethod
    def of(cls, data: RankingDataset, terms: Sequence[tuple[Relation, float]], n_jobs: int | None = None) -> Laplacian:
        """Add up relations times their strengths; pairs of a document with itself do not matter."""
        from scipy.sparse import csr_matrix

        n = data.n_rows
        total = csr_matrix((n, n))
        for relation, beta in terms:
            matrix = relation.matrix(n)
            total = total + (0.5 * beta) * (matrix + matrix.T)
        return cls._of_matrix(data.offsets, total, n_jobs)

    @classmethod
    def from_edges(
        cls, offsets: np.ndarray, one: np.ndarray, two: np.ndarray, weight: np.ndarray, n_jobs: int | None = None
    ) -> Laplacian:
        """From undirected edges, each given once."""
        from scipy.sparse import csr_matrix

        n = int(offsets[-1])
        half = csr_matrix((weight, (one, two)), shape=(n, n))
        return cls._of_matrix(offsets, half + half.T, n_jobs)

    @classmethod
    def _of_matrix(cls, offsets: np.ndarray, total: Any, n_jobs: int | None) -> Laplacian:
        if total.diagonal().any():
            total.setdiag(0.0)
            total.eliminate_zeros()
        total.sort_indices()
        weight = np.ascontiguousarray(total.data, np.float64)
        pointers, other = total.indptr.astype(np.int64), total.indices.astype(np.int64)
        degree = np.zeros(int(offsets[-1]))
        _row_sums(pointers, weight, degree)
        return cls(offsets, pointers, other, weight, 1.0 + degree, n_jobs)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Z with (I + L) z = b, for a vector or for each column of a table."""
        return _solved(self, _conjugate, (self.pointers, self.other, self.weight), b)

    def scaled(self, factor: float) -> Laplacian:
        """I + factor · L."""
        return replace(self, weight=factor * self.weight, diagonal=1.0 + factor * (self.diagonal - 1.0))

    def times(self, z: np.ndarray) -> np.ndarray:
        """(I + L) z."""
        out = np.empty_like(z)
        over_queries(
            _products, self.offsets, self.pointers, self.other, self.weight, self.diagonal, z, out, n_jobs=self.n_jobs
        )
        return out


@dataclass(frozen=True, eq=False)
class Hypergraph:
    r"""I + β (D_v − H W D_e^{-1} H'), by the members of each edge: pairs of a document and a label of the edge."""

    offsets: np.ndarray
    pointers: np.ndarray
    other: np.ndarray
    weight: np.ndarray
    diagonal: np.ndarray
    n_jobs: int | None = None

    @classmethod
    def of(cls, data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None = None) -> Hypergraph:
        """From an incidence relation, as `plackett.hyperedges` makes it."""
        n = data.n_rows
        size = np.bincount(relation.other, minlength=n)
        share = beta * relation.weights / np.maximum(size[relation.other], 1)  # w_e / |e|
        degree = np.bincount(relation.row, beta * relation.weights, n)
        return cls(data.offsets, relation.pointers(n).astype(np.int64), relation.other, share, 1.0 + degree, n_jobs)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Z with (I + β L) z = b, for a vector or for each column of a table."""
        return _solved(self, _conjugate_edges, (self.pointers, self.other, self.weight), b)


@dataclass(frozen=True, eq=False)
class ForestLaplacian:
    """I + L for a forest: every document has at most one parent. Solved in one pass up and one down.

    Parameters
    ----------
    parent
        Row of the parent of each row, or −1.
    weight
        Weight of the edge to the parent.
    order
        Rows of each query, parents before their children.
    """

    offsets: np.ndarray
    parent: np.ndarray
    weight: np.ndarray
    order: np.ndarray
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None = None
    ) -> ForestLaplacian | Laplacian:
        """From pairs (document, parent); returns a `Laplacian` if the pairs do not form a forest."""
        forest = parents_of(relation, data)
        if forest is None:
            return Laplacian.of(data, [(relation, beta)], n_jobs)
        parent, weight, order = forest
        return cls(data.offsets, parent, 0.5 * beta * weight, order, n_jobs)

    def reweighted(self, weight: np.ndarray) -> ForestLaplacian:
        """The same forest with other edge weights."""
        return ForestLaplacian(self.offsets, self.parent, weight, self.order, self.n_jobs)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Z with (I + L) z = b, for a vector or for each column of a table."""
        given = np.ascontiguousarray(b, np.float64)
        table = given[:, None] if given.ndim == 1 else given
        out = np.empty_like(table)
        over_queries(_eliminate, self.offsets, self.parent, self.weight, self.order, table, out, n_jobs=self.n_jobs)
        return out.reshape(given.shape)


def parents_of(relation: Relation, data: RankingDataset) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Parent and its weight for each row, and the rows with parents first; None if the pairs do not form a forest."""
    n = data.n_rows
    kept = relation.row != relation.other
    row, other, weight = relation.row[kept], relation.other[kept], relation.weights[kept]
    if row.size != np.unique(row).size:
        return None
    parent, of = np.full(n, -1, np.int64), np.zeros(n)
    parent[row], of[row] = other, weight
    depth, above = np.zeros(n, np.int64), parent.copy()
    for _ in range(int(data.group.max(initial=0)) + 1):
        up = above >= 0
        if not up.any():
            return parent, of, np.lexsort((depth, data.query_of_row))
        depth[up] += 1
        above = np.where(up, parent[above], -1)
    return None  # a cycle


def _solved(system: Any, method: Any, parts: tuple[Any, ...], b: np.ndarray) -> np.ndarray:
    given = np.ascontiguousarray(b, np.float64)
    table = given[:, None] if given.ndim == 1 else given
    out = table.copy()
    over_queries(method, system.offsets, *parts, system.diagonal, table, TOLERANCE, out, n_jobs=system.n_jobs,
                 rows_per_thread=5_000)  # fmt: skip
    return out.reshape(given.shape)


# --------------------------------------------------------------------------------------------------------- kernels


@kernel
def _row_sums(pointers, weight, out):
    for i in range(out.size):
        total = 0.0
        for p in range(pointers[i], pointers[i + 1]):
            total += weight[p]
        out[i] = total


@kernel
def _products(lo, hi, offsets, pointers, other, weight, diagonal, z, out):
    for i in range(offsets[lo], offsets[hi]):
        total = diagonal[i] * z[i]
        for p in range(pointers[i], pointers[i + 1]):
            total -= weight[p] * z[other[p]]
        out[i] = total


@kernel
def _times_pairs(first, n, pointers, other, weight, diagonal, z, edge, out):
    """The product with I + L of the rows of one query."""
    for i in range(n):
        total = diagonal[first + i] * z[i]
        for p in range(pointers[first + i], pointers[first + i + 1]):
            total -= weight[p] * z[other[p] - first]
        out[i] = total


@kernel
def _times_edges(first, n, pointers, other, weight, diagonal, z, edge, out):
    """The same over the edges of a hypergraph, by summing over the members of each edge first."""
    for i in range(n):
        edge[i] = 0.0
    for i in range(n):
        for p in range(pointers[first + i], pointers[first + i + 1]):
            edge[other[p] - first] += z[i]
    for i in range(n):
        total = diagonal[first + i] * z[i]
        for p in range(pointers[first + i], pointers[first + i + 1]):
            total -= weight[p] * edge[other[p] - first]
        out[i] = total


def _conjugate_gradients(lo, hi, offsets, pointers, other, weight, diagonal, b, tol, out):
    """Conjugate gradients with the diagonal as preconditioner, query by query and column by column, from z = b."""
    lane = lanes(5, longest(lo, hi, offsets))
    z, r, p, w, edge = lane[0], lane[1], lane[2], lane[3], lane[4]
    for q in range(lo, hi):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        if pointers[first] == pointers[first + n]:
            continue  # nothing is related: z = b
        for c in range(b.shape[1]):
            size = 0.0
            for i in range(n):
                z[i] = b[first + i, c]
                size += z[i] * z[i]
            times(first, n, pointers, other, weight, diagonal, z, edge, w)  # type: ignore[name-defined] # noqa: F821
            old = 0.0
            left = 0.0
            for i in range(n):
                r[i] = z[i] - w[i]
                p[i] = r[i] / diagonal[first + i]
                old += r[i] * p[i]
                left += r[i] * r[i]
            for _ in range(2 * n + 10):
                if left <= tol * tol * size:
                    break
                times(first, n, pointers, other, weight, diagonal, p, edge, w)  # type: ignore[name-defined] # noqa: F821
                curve = 0.0
                for i in range(n):
                    curve += p[i] * w[i]
                if not curve > 0.0:
                    break
                step = old / curve
                new, left = 0.0, 0.0
                for i in range(n):
                    z[i] += step * p[i]
                    r[i] -= step * w[i]
                    new += r[i] * r[i] / diagonal[first + i]
                    left += r[i] * r[i]
                turn = new / old
                old = new
                for i in range(n):
                    p[i] = r[i] / diagonal[first + i] + turn * p[i]
            for i in range(n):
                out[first + i, c] = z[i]


_conjugate = kernel_from(_conjugate_gradients, times=_times_pairs)
_conjugate_edges = kernel_from(_conjugate_gradients, times=_times_edges)


@kernel
def _eliminate(lo, hi, offsets, parent, weight, order, b, out):
    """Elimination from the leaves to the roots, then substitution back: linear in the number of documents."""
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        pivot = np.ones(last - first)
        for i in range(first, last):
            if parent[i] >= 0:
                pivot[i - first] += weight[i]
                pivot[parent[i] - first] += weight[i]
        for i in range(first, last):
            for c in range(b.shape[1]):
                out[i, c] = b[i, c]
        for position in range(last - 1, first - 1, -1):
            i = order[position]
            u = parent[i]
            if u >= 0:
                share = weight[i] / pivot[i - first]
                pivot[u - first] -= share * weight[i]
                for c in range(b.shape[1]):
                    out[u, c] += share * out[i, c]
        for position in range(first, last):
            i = order[position]
            u = parent[i]
            for c in range(b.shape[1]):
                above = weight[i] * out[u, c] if u >= 0 else 0.0
                out[i, c] = (out[i, c] + above) / pivot[i - first]
