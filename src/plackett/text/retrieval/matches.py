"""How often the terms of queries occur in candidate documents: all that a term model looks at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.queries import QueryTerms


class Collection(NamedTuple):
    """Statistics of a field in the collection."""

    n_documents: int
    #: Number of terms of all documents together.
    total_length: int
    average_length: float
    #: Number of distinct terms.
    n_terms: int

    @classmethod
    def of(cls, field: Field) -> Collection:
        """Statistics of a field of an index."""
        return cls(field.n_documents, field.total_length, field.average_length, field.n_terms)


class Matches(NamedTuple):
    """Term statistics of queries and candidates, in flat arrays.

    ``counts[bases[q] + (p - offsets[q]) * m + j]`` is how often term j of the m terms of query q occurs in the document
    of pair p.
    """

    #: Candidates by query, int64.
    offsets: np.ndarray
    #: Terms by query, int64.
    term_offsets: np.ndarray
    #: Where the counts of each query begin, int64.
    bases: np.ndarray
    #: int32.
    counts: np.ndarray
    #: Number of terms, and of distinct terms, of each candidate: int32.
    lengths: np.ndarray
    unique: np.ndarray
    #: Weight in the query, document frequency and collection frequency of each query term: float64.
    weights: np.ndarray
    document_frequency: np.ndarray
    collection_frequency: np.ndarray
    collection: Collection
    #: Numbers of the candidates; None if the statistics do not come from an index.
    documents: np.ndarray | None = None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def n_pairs(self) -> int:
        """Number of candidates of all queries."""
        return int(self.offsets[-1])

    def query_of_term(self) -> np.ndarray:
        """Number of the query that each query term belongs to."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.term_offsets))


def statistics(field: Field, query: QueryTerms) -> tuple[np.ndarray, np.ndarray]:
    """Document and collection frequency of the query terms, 0 for unknown ones."""
    known = query.terms >= 0
    at = np.where(known, query.terms, 0)
    if field.n_terms == 0:
        return np.zeros(at.size), np.zeros(at.size)
    df, cf = field.document_frequency[at], field.collection_frequency[at]
    return np.where(known, df, 0).astype(np.float64), np.where(known, cf, 0).astype(np.float64)


def no_candidates(field: Field, query: QueryTerms) -> Matches:
    """Statistics of the query terms alone."""
    none, empty = np.zeros(query.n_queries + 1, np.int64), np.empty(0, np.int32)
    frequencies = statistics(field, query)
    return Matches(none, query.offsets, none, empty, empty, empty, query.weights, *frequencies, Collection.of(field))


def match(field: Field, query: QueryTerms, offsets: Any, documents: Any, n_jobs: int | None = None) -> Matches:
    """Look the terms of each query up in its candidates."""
    offsets, documents = np.asarray(offsets, np.int64), np.asarray(documents, np.int64)
    if offsets.size != query.n_queries + 1 or offsets[-1] != documents.size:
        raise DataError(f"{query.n_queries} queries and {documents.size} candidates do not fit offsets {offsets!r:.80}")
    if documents.size and not (documents.min() >= 0 and documents.max() < field.n_documents):
        raise DataError(f"candidates must be numbers of documents, from 0 to {field.n_documents - 1}")
    sizes = np.diff(query.offsets) * np.diff(offsets)
    bases = np.concatenate(([0], np.cumsum(sizes)))
    counts = np.empty(bases[-1], np.int32)
    over_queries(_look_up, offsets, query.offsets, query.terms, documents, bases, *field.forward, counts, n_jobs=n_jobs)
    df, cf = statistics(field, query)
    unique = np.diff(field.forward.offsets).astype(np.int32)
    return Matches(
        offsets,
        query.offsets,
        bases,
        counts,
        np.asarray(field.lengths)[documents],
        unique[documents],
        query.weights,
        df,
        cf,
        Collection.of(field),
        documents,
    )


@kernel
def _look_up(lo, hi, offsets, term_offsets, terms, documents, bases, starts, doc_terms, doc_counts, counts):
    """Binary search of each query term among the sorted terms of the document."""
    for q in range(lo, hi):
        first = term_offsets[q]
        m = term_offsets[q + 1] - first
        at = bases[q]
        for p in range(offsets[q], offsets[q + 1]):
            d = documents[p]
            begin, end = starts[d], starts[d + 1]
            for j in range(m):
                t = terms[first + j]
                a, b = begin, end
                while a < b:
                    middle = (a + b) >> 1
                    if doc_terms[middle] < t:
                        a = middle + 1
                    else:
                        b = middle
                counts[at + j] = doc_counts[a] if a < end and doc_terms[a] == t else 0
            at += m
