"""The vector space model: cosine of TF-IDF vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.text.index.field import Field
from plackett.text.retrieval.base import TermKernels, TermModel
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches
from plackett.text.retrieval.term_frequency import TF

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["VectorSpace"]


@dataclass(frozen=True, kw_only=True)
class VectorSpace(TermModel):
    r"""Vector space model: inner product or cosine of TF-IDF vectors of query and document.

    Parameters
    ----------
    tf
        Term-frequency variant of both: ``"raw"``, ``"log"``, ``"length"``, ``"binary"``, ``"log1p"``,
        ``"log1p-length"``.
    idf
        As for `TFIDF`; both vectors have it as a factor.
    cosine
        Whether vectors are scaled to length 1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> VectorSpace(idf="smooth").search(index, "blue whales").scores.round(3).tolist()
    [1.0, 0.446]

    References
    ----------
    Salton, Wong, Yang: A vector space model for automatic indexing. Communications of the ACM 18(11), 1975.
    """

    name: ClassVar[str] = "VectorSpace"
    aliases: ClassVar[tuple[str, ...]] = ("VSM", "cosine")

    tf: str = "log"
    idf: str = "log"
    cosine: bool = True

    def _check(self) -> None:
        choice("tf", self.tf, TF)
        choice("idf", self.idf, IDF)
        self.expect(not TF[self.tf].reads_largest, "tf", "give a variant that does not look at the largest count")

    @property
    def _kernels(self) -> TermKernels:  # type: ignore[override]
        return TF[self.tf].divided if self.cosine else TF[self.tf].plain

    @property
    def _reads_documents(self) -> bool:
        return self.cosine

    def _per_document(self, field: Field) -> np.ndarray:
        vectors = document_vectors(field, self.tf, self.idf)
        norm = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return np.where(norm > 0, norm, 1.0)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        idf = IDF[self.idf](matches.document_frequency, matches.collection.n_documents)
        query = matches.query_of_term()
        length = np.bincount(query, matches.weights, matches.n_queries)[query]
        vector = TF[self.tf].numbers(matches.weights, length, 1.0) * np.where(matches.document_frequency > 0, idf, 0.0)
        if self.cosine:
            norm = np.sqrt(np.bincount(query, vector**2, matches.n_queries))
            vector = vector / np.where(norm > 0, norm, 1.0)[query]
        return (vector * idf,)


def unit_vectors(field: Field) -> sp.csr_array:
    """TF-IDF vectors of length 1, computed once per field."""
    vectors: sp.csr_array = field.kept.of("unit vectors", lambda: unit_rows(document_vectors(field, idf="smooth")))
    return vectors


def unit_rows(vectors: sp.csr_array) -> sp.csr_array:
    """Sparse rows divided by their lengths."""
    norm = np.sqrt(vectors.multiply(vectors).sum(axis=1))
    return (vectors / np.where(norm > 0, norm, 1.0)[:, None]).tocsr()


def directions(rows: np.ndarray) -> np.ndarray:
    """Rows divided by their lengths."""
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norm == 0, 1.0, norm)


def document_vectors(field: Field, tf: str = "log", idf: str = "log") -> sp.csr_array:
    """TF-IDF vectors of all documents of a field, a row each."""
    import scipy.sparse as sp

    forward = field.forward
    length = np.repeat(field.lengths, np.diff(forward.offsets))
    value = TF[tf].numbers(forward.counts, length, 1.0)
    value = value * IDF[idf](field.document_frequency, field.n_documents)[forward.terms]
    starts = forward.offsets.astype(np.int32) if value.size < 2**31 else forward.offsets  # scikit-learn wants int32
    return sp.csr_array((value, forward.terms, starts), (field.n_documents, field.n_terms))
