"""Latent semantic indexing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import choice
from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, RetrievalModel, best
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.queries import Inquiry
from plackett.text.retrieval.term_frequency import TF
from plackett.text.retrieval.vector_space import directions, document_vectors

__all__ = ["LSI"]


class _Space(NamedTuple):
    #: Terms × k: maps a query into the space.
    terms: np.ndarray
    #: Documents × k.
    documents: np.ndarray
    #: Inverse document frequency of the terms.
    idf: np.ndarray


@dataclass(frozen=True, kw_only=True)
class LSI(RetrievalModel):
    r"""Latent semantic indexing: similarity in the space of the k largest singular values.

    With the truncated decomposition :math:`A \approx U_k S_k V_k^\top` of the term–document matrix of TF-IDF weights,
    a query is :math:`U_k^\top q` and a document is its column of :math:`S_k V_k^\top`. All documents are ranked,
    including those without a query term. With k = rank A inner products are those of the vector space.

    Parameters
    ----------
    k
        Dimensions; at most the number of documents or terms, less one.
    cosine
        Whether to compare directions instead of inner products.
    tf, idf
        As for `VectorSpace`.
    random_state
        Seed of the solver's start vector.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["car engine", "auto engine", "auto motor", "flower garden", "flower tree"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> LSI(k=2).search(index, "car", k=3).documents.tolist()  # "auto motor" has no common term with the query
    [0, 1, 2]

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer, Harshman: Indexing by latent semantic analysis. JASIS 41(6), 1990.
    """

    name: ClassVar[str] = "LSI"
    cost: ClassVar[float] = 3.0

    k: int = 100
    cosine: bool = True
    tf: str = "log"
    idf: str = "log"
    random_state: int = 0

    def _check(self) -> None:
        self.expect(self.k >= 1, "k", "give a number of dimensions")
        choice("tf", self.tf, TF)
        choice("idf", self.idf, IDF)

    def space(self, field: Field) -> _Space:
        """The decomposition of a field, computed once."""
        space: _Space = field.kept.of(self, lambda: self._decompose(field))
        return space

    def _decompose(self, field: Field) -> _Space:
        import scipy.sparse.linalg as linalg

        matrix = document_vectors(field, self.tf, self.idf)
        idf = IDF[self.idf](field.document_frequency, field.n_documents)
        k = min(self.k, min(matrix.shape) - 1)
        if k < 1 or matrix.nnz == 0:
            return _Space(np.zeros((field.n_terms, 1)), np.zeros((field.n_documents, 1)), idf)
        start = np.random.default_rng(self.random_state).standard_normal(min(matrix.shape))
        left, values, right = linalg.svds(matrix, k=k, v0=start)
        return _Space(np.ascontiguousarray(right.T), left * values, idf)

    def _vectors(self, inquiry: Inquiry) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of the queries and of all documents."""
        import scipy.sparse as sp

        space, terms = self.space(inquiry.field), inquiry.terms
        known, query, n = terms.terms >= 0, terms.query_of_term, terms.n_queries
        length = np.bincount(query, terms.weights, n)[query]
        value = TF[self.tf].numbers(terms.weights, length, 1.0)[known] * space.idf[terms.terms[known]]
        rows = sp.csr_array((value, (query[known], terms.terms[known])), (n, inquiry.field.n_terms))
        vectors = rows @ space.terms, space.documents
        return (directions(vectors[0]), directions(vectors[1])) if self.cosine else vectors

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        vectors, rows = self._vectors(inquiry)
        out = np.empty(documents.size)
        over_queries(_dots, offsets, documents, np.ascontiguousarray(rows), vectors, out, n_jobs=inquiry.n_jobs)
        return out

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best of all documents for each query."""
        n = inquiry.index.n_documents
        vectors, rows = self._vectors(inquiry)
        parts = []
        for lo in range(0, len(vectors), 64):  # a block of queries at a time: documents × queries would not fit
            table = vectors[lo : lo + 64] @ rows.T
            m = table.shape[0]
            worst = np.partition(table, n - k, axis=1)[:, n - k : n - k + 1] if k < n else table.min(axis=1)[:, None]
            query, documents = np.nonzero(table >= worst)
            offsets = np.searchsorted(query, np.arange(m + 1))
            parts.append(best(offsets, documents, table[query, documents], k))
        return Results.joined(parts)


@kernel
def _dots(lo, hi, offsets, documents, rows, vectors, out):
    for q in range(lo, hi):
        for i in range(offsets[q], offsets[q + 1]):
            total = 0.0
            for j in range(vectors.shape[1]):
                total += rows[documents[i], j] * vectors[q, j]
            out[i] = total
