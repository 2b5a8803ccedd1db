"""From the terms of documents in reading order to postings and to counts by document."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


def invert(offsets: np.ndarray, terms: np.ndarray, n_terms: int) -> tuple[np.ndarray, ...]:
    """Offsets, documents and counts of the postings, position offsets and positions."""
    return _invert(offsets, terms, n_terms)  # type: ignore[no-any-return]


def forward(offsets: np.ndarray, terms: np.ndarray, n_terms: int) -> tuple[np.ndarray, ...]:
    """Offsets, terms in increasing order, and counts of each document; and its number of terms."""
    size = _n_distinct(offsets, terms, n_terms)
    return _forward(offsets, terms, n_terms, size)  # type: ignore[no-any-return]


@kernel
def _invert(offsets, terms, n_terms):
    """One counting sort of the terms; a stop word or gap is -1."""
    starts = np.zeros(n_terms + 1, np.int64)  # of positions
    begins = np.zeros(n_terms + 1, np.int64)  # of postings
    last = np.full(n_terms, -1, np.int32)
    for document in range(offsets.size - 1):
        for i in range(offsets[document], offsets[document + 1]):
            term = terms[i]
            if term >= 0:
                starts[term + 1] += 1
                if last[term] != document:
                    last[term] = document
                    begins[term + 1] += 1
    for term in range(n_terms):
        starts[term + 1] += starts[term]
        begins[term + 1] += begins[term]
    documents = np.empty(begins[n_terms], np.int32)
    counts = np.zeros(begins[n_terms], np.int32)
    positions = np.empty(starts[n_terms], np.int32)
    next_position = starts[:-1].copy()
    next_posting = begins[:-1] - 1
    last[:] = -1
    for document in range(offsets.size - 1):
        first = offsets[document]
        for i in range(first, offsets[document + 1]):
            term = terms[i]
            if term >= 0:
                if last[term] != document:
                    last[term] = document
                    next_posting[term] += 1
                    documents[next_posting[term]] = document
                counts[next_posting[term]] += 1
                positions[next_position[term]] = i - first
                next_position[term] += 1
    return begins, documents, counts, starts, positions


@kernel
def _n_distinct(offsets, terms, n_terms):
    last = np.full(n_terms, -1, np.int32)
    n = 0
    for document in range(offsets.size - 1):
        for i in range(offsets[document], offsets[document + 1]):
            term = terms[i]
            if term >= 0 and last[term] != document:
                last[term] = document
                n += 1
    return n


@kernel
def _forward(offsets, terms, n_terms, size):
    n_documents = offsets.size - 1
    begins = np.zeros(n_documents + 1, np.int64)
    distinct = np.empty(size, np.int32)
    counts = np.empty(size, np.int32)
    lengths = np.zeros(n_documents, np.int32)
    seen = np.zeros(n_terms, np.int32)
    end = 0
    for document in range(n_documents):
        begin = end
        for i in range(offsets[document], offsets[document + 1]):
            term = terms[i]
            if term >= 0:
                if seen[term] == 0:
                    distinct[end] = term
                    end += 1
                seen[term] += 1
                lengths[document] += 1
        distinct[begin:end].sort()
        for j in range(begin, end):
            counts[j] = seen[distinct[j]]
            seen[distinct[j]] = 0
        begins[document + 1] = end
    return begins, distinct, counts, lengths
