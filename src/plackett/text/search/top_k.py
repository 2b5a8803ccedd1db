"""The best documents for weighted terms: exhaustive, a window of documents at a time.

The weight of each posting is computed once per term and kept. For a window of documents that fits into the processor's
cache, the weights of all query terms are added up; then either the sums of the whole window are looked at, many at a
time, or, if few documents were touched, those alone. Pruning by bounds of blocks of postings was tried: it helps the
median and hurts the slow queries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._kernel import kernel
from plackett.text.index.field import Field

__all__ = ["Impacts", "bm25_impacts", "top_k"]

#: Documents of a window: their sums take 128 kB.
_WINDOW = 1 << 15
#: Sums of a window that are compared with the threshold together.
_BLOCK = 64
#: Only those documents that were touched are looked at if they are fewer than this part of a window.
_SPARSE = 64


class Impacts:
    """The weight of every posting of a field, computed when its term is first asked for.

    Parameters
    ----------
    fill
        ``fill(field, terms, weights)`` computes the weights of the postings of some terms, float32.
    """

    def __init__(self, field: Field, fill: Callable[[Field, np.ndarray, np.ndarray], None]) -> None:
        self.field = field
        #: float32, one per posting; only those of `known` terms are filled in.
        self.weights = np.empty(field.postings.documents.size, np.float32)
        self.known = np.zeros(field.n_terms, np.bool_)
        self._fill = fill

    def need(self, terms: np.ndarray) -> None:
        """Compute the weights of terms that are not known yet."""
        new = terms[~self.known[terms]]
        if new.size:
            self._fill(self.field, new, self.weights)
            self.known[new] = True


def bm25_impacts(field: Field, k1: float = 1.2, b: float = 0.75) -> Impacts:
    r"""Weights of BM25, with an inverse document frequency that is never negative.

    .. math:: \ln\Bigl(1 + \frac{N - \mathrm{df} + 1/2}{\mathrm{df} + 1/2}\Bigr)
              \frac{(k_1 + 1)\, \mathrm{tf}}{\mathrm{tf} + k_1 (1 - b + b\, \mathrm{len} / \overline{\mathrm{len}})}
    """
    key = "BM25 impacts", k1, b
    if key not in field.kept:
        average = field.average_length or 1.0
        saturation = (k1 * (1 - b + b * field.lengths / average)).astype(np.float32)

        def fill(field: Field, terms: np.ndarray, weights: np.ndarray) -> None:
            frequency = field.document_frequency[terms]
            idf = np.log1p((field.n_documents - frequency + 0.5) / (frequency + 0.5))
            offsets, documents, counts = field.postings[:3]
            _fill_bm25(terms, idf * (k1 + 1), offsets, documents, counts, saturation, weights)

        field.kept[key] = Impacts(field, fill)
    found: Impacts = field.kept[key]
    return found


def top_k(
    impacts: Impacts, terms: np.ndarray, weights: np.ndarray, k: int, allowed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and scores of the k best documents that have one of the terms, the best first.

    Of equal scores the smaller number comes first.

    Parameters
    ----------
    terms
        Numbers of terms, without -1; a repeated one counts each time.
    weights
        Factor of each term.
    allowed
        Boolean by document: the others are left out.
    """
    field = impacts.field
    k = min(k, field.n_documents)
    terms = np.asarray(terms, np.int64)
    if k < 1 or terms.size == 0:
        return np.empty(0, np.int32), np.empty(0, np.float32)
    impacts.need(terms)
    scores, documents = np.empty(k, np.float32), np.empty(k, np.int32)
    n = _top_k(
        terms,
        np.asarray(weights, np.float32),
        field.postings.offsets,
        field.postings.documents,
        impacts.weights,
        field.n_documents,
        _EVERYTHING if allowed is None else allowed,
        scores,
        documents,
    )
    return documents[:n], scores[:n]


_EVERYTHING = np.empty(0, np.bool_)


@kernel
def _fill_bm25(terms, factors, offsets, documents, counts, saturation, weights):  # type: ignore[no-untyped-def]
    for i in range(terms.size):
        factor = np.float32(factors[i])
        for p in range(offsets[terms[i]], offsets[terms[i] + 1]):
            count = np.float32(counts[p])
            weights[p] = factor * count / (count + saturation[documents[p]])


@kernel(inline=True)
def _worse(score, document, other_score, other_document):  # type: ignore[no-untyped-def]
    return score < other_score or (score == other_score and document > other_document)


@kernel
def _sift_down(scores, documents, n, score, document):  # type: ignore[no-untyped-def]
    """Put an entry in the place of the worst, which is the first of the heap."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _worse(scores[child + 1], documents[child + 1], scores[child], documents[child]):
            child += 1
        if not _worse(scores[child], documents[child], score, document):
            break
        scores[i] = scores[child]
        documents[i] = documents[child]
        i = child
    scores[i] = score
    documents[i] = document


@kernel
def _push(scores, documents, n, score, document):  # type: ignore[no-untyped-def]
    """Keep an entry if it is among the best; return how many there are."""
    if n == scores.size:
        if _worse(scores[0], documents[0], score, document):
            _sift_down(scores, documents, n, score, document)
        return n
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if not _worse(score, document, scores[parent], documents[parent]):
            break
        scores[i] = scores[parent]
        documents[i] = documents[parent]
        i = parent
    scores[i] = score
    documents[i] = document
    return n + 1


@kernel
def _first_from(documents, lo, hi, document):  # type: ignore[no-untyped-def]
    """First posting from ``lo`` on whose document is not before the given one, found by growing steps."""
    step = 1
    while lo + step < hi and documents[lo + step] < document:
        lo += step
        step *= 2
    hi = min(hi, lo + step)
    while lo < hi:
        middle = (lo + hi) >> 1
        if documents[middle] < document:
            lo = middle + 1
        else:
            hi = middle
    return lo


@kernel
def _top_k(terms, factors, offsets, documents, weights, n_documents, allowed, best, found):  # type: ignore[no-untyped-def]
    m = terms.size
    begin, current = np.empty(m, np.int64), np.empty(m, np.int64)
    for j in range(m):
        current[j] = offsets[terms[j]]
    rows = np.zeros((_WINDOW // _BLOCK, _BLOCK), np.float32)  # loops over a row use vector registers
    sums = rows.reshape(-1)
    n = 0
    threshold = np.float32(0.0)  # a document must be above it once there are k
    for base in range(0, n_documents, _WINDOW):
        width = min(_WINDOW, n_documents - base)
        touched = 0
        for j in range(m):
            begin[j] = current[j]
            stop = offsets[terms[j] + 1]
            if current[j] < stop:
                stop = _first_from(documents, current[j], stop, base + width)
            factor = factors[j]
            for p in range(begin[j], stop):
                sums[documents[p] - base] += factor * weights[p]
            current[j] = stop
            touched += stop - begin[j]
        if touched == 0:
            continue
        if touched < width // _SPARSE:
            for j in range(m):
                for p in range(begin[j], current[j]):
                    document = documents[p]
                    score = sums[document - base]
                    sums[document - base] = np.float32(0.0)
                    good = score > 0 and (n < best.size or score >= threshold)
                    if good and (allowed.size == 0 or allowed[document]):
                        n = _push(best, found, n, score, document)
                        if n == best.size:
                            threshold = best[0]
            continue
        for r in range((width + _BLOCK - 1) // _BLOCK):
            above = 0
            for i in range(_BLOCK):
                above += rows[r, i] > threshold
            if above > 0:
                for i in range(_BLOCK):
                    score = rows[r, i]
                    document = base + r * _BLOCK + i
                    if score > threshold and (allowed.size == 0 or allowed[document]):
                        n = _push(best, found, n, score, np.int32(document))
                        if n == best.size:
                            threshold = best[0]
        sums[:width] = np.float32(0.0)
    # take the worst off one by one: the best stay in front
    for last in range(n - 1, 0, -1):
        score, document = best[last], found[last]
        best[last], found[last] = best[0], found[0]
        _sift_down(best, found, last, score, document)
    return n
