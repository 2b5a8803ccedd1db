"""The best k of a stream of scored documents: a heap with the worst kept one at its root."""

from __future__ import annotations

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def _worse(score, document, other_score, other_document):
    return score < other_score or (score == other_score and document > other_document)


@kernel
def _sink(scores, documents, i, size, score, document):
    """Put an entry at position i of a heap, or further down, so that nothing worse is below it."""
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and _worse(scores[child + 1], documents[child + 1], scores[child], documents[child]):
            child += 1
        if not _worse(scores[child], documents[child], score, document):
            break
        scores[i], documents[i] = scores[child], documents[child]
        i = child
    scores[i], documents[i] = score, document


@kernel
def insert(scores, documents, size, k, score, document):
    """Add an entry to a heap of at most k; return the new size."""
    if size < k:
        i = size
        while i > 0:
            parent = (i - 1) >> 1
            if not _worse(score, document, scores[parent], documents[parent]):
                break
            scores[i], documents[i] = scores[parent], documents[parent]
            i = parent
        scores[i], documents[i] = score, document
        return size + 1
    if _worse(scores[0], documents[0], score, document):
        _sink(scores, documents, 0, size, score, document)
    return size


@kernel
def sort_heap(scores, documents, size):
    """Turn a heap into a list, the best first."""
    while size > 1:
        size -= 1
        score, document = scores[size], documents[size]
        scores[size], documents[size] = scores[0], documents[0]
        _sink(scores, documents, 0, size, score, document)
