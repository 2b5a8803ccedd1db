"""The best documents for weighted terms: exhaustive, a window of documents at a time.

The weight of each posting is computed once per term and kept. For a window of documents that fits into the processor's
cache, the weights of all query terms are added up. Then either all sums of the window are compared, many at a time, or,
if few documents were touched, only theirs. Pruning by bounds on blocks of postings was tried: it helps the median and
hurts the slow queries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.top import insert, sort_heap

#: Inverse document frequencies with which every document that has a term scores above 0.
POSITIVE_IDF = ("lucene", "smooth", "none")
#: Settings of BM25 whose weights are kept with a field.
_KEPT = 4

#: Documents of a window: their sums take 128 kB.
_WINDOW = 1 << 15
#: Sums of a window that are compared with the threshold together.
_BLOCK = 64
#: Only the touched documents are compared if they are fewer than this fraction (1 / 64) of a window.
_SPARSE = 64


class Impacts:
    """The weight of every posting of a field, computed when its term is first needed.

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


def bm25_impacts(field: Field, k1: float = 1.2, b: float = 0.75, idf: str = "lucene") -> Impacts:
    r"""Weights of BM25, with one of the inverse document frequencies that are always above 0, `POSITIVE_IDF`.

    .. math:: \mathrm{idf}
              \frac{(k_1 + 1)\, \mathrm{tf}}{\mathrm{tf} + k_1 (1 - b + b\, \mathrm{len} / \overline{\mathrm{len}})}

    The last few settings are kept with the field.
    """
    key = "BM25 impacts", k1, b, idf
    if key not in field.kept:
        older = [other for other in field.kept if isinstance(other, tuple) and other[0] == key[0]]
        for other in older[: max(len(older) - _KEPT + 1, 0)]:
            field.kept.pop(other, None)
        average = field.average_length or 1.0
        saturation = (k1 * (1 - b + b * field.lengths / average)).astype(np.float32)

        def fill(field: Field, terms: np.ndarray, weights: np.ndarray) -> None:
            frequency = field.document_frequency[terms]
            factor = IDF[idf](frequency, field.n_documents) * (k1 + 1)
            offsets, documents, counts = field.postings[:3]
            _fill_bm25(terms, factor, offsets, documents, counts, saturation, weights)

        field.kept[key] = Impacts(field, fill)
    impacts: Impacts = field.kept[key]
    return impacts


def top_k_of_queries(
    impacts: Impacts, offsets: np.ndarray, terms: np.ndarray, weights: np.ndarray, k: int, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k best documents of several queries, as `top_k` finds those of one: offsets, numbers and scores.

    Parameters
    ----------
    offsets
        One more than queries: ``terms[offsets[q]:offsets[q + 1]]`` are those of query q; -1 is left out.
    """
    field = impacts.field
    n, width = offsets.size - 1, max(min(k, field.n_documents), 1)
    known = terms >= 0
    impacts.need(np.unique(terms[known]))
    term_offsets = np.concatenate(([0], np.cumsum(known)))[offsets].astype(np.int64)
    terms, weights = terms[known].astype(np.int64), weights[known].astype(np.float32)
    frequency = np.concatenate(([0], np.cumsum(field.document_frequency[terms])))
    documents, scores = np.empty((n, width), np.int32), np.empty((n, width), np.float32)
    sizes = np.zeros(n, np.int64)
    over_queries(
        _top_k_of_queries,
        frequency[term_offsets].astype(np.int64),
        term_offsets,
        terms,
        weights,
        field.postings.offsets,
        field.postings.documents,
        impacts.weights,
        field.n_documents,
        scores,
        documents,
        sizes,
        n_jobs=n_jobs,
    )
    keep = np.arange(width) < sizes[:, None]
    return np.concatenate(([0], np.cumsum(sizes))), documents[keep], scores[keep]


def top_k(
    impacts: Impacts, terms: np.ndarray, weights: np.ndarray, k: int, allowed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and scores of the k best documents that have one of the terms, the best first.

    Among equal scores the smaller number comes first.

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
def _fill_bm25(terms, factors, offsets, documents, counts, saturation, weights):
    for i in range(terms.size):
        factor = np.float32(factors[i])
        for p in range(offsets[terms[i]], offsets[terms[i] + 1]):
            count = np.float32(counts[p])
            weights[p] = factor * count / (count + saturation[documents[p]])


@kernel
def _first_from(documents, lo, hi, document):
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
def _top_k(terms, factors, offsets, documents, weights, n_documents, allowed, top_scores, top_documents):
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
                    good = score > 0 and (n < top_scores.size or score >= threshold)
                    if good and (allowed.size == 0 or allowed[document]):
                        n = insert(top_scores, top_documents, n, top_scores.size, score, document)
                        if n == top_scores.size:
                            threshold = top_scores[0]
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
                        n = insert(top_scores, top_documents, n, top_scores.size, score, np.int32(document))
                        if n == top_scores.size:
                            threshold = top_scores[0]
        sums[:width] = np.float32(0.0)
    sort_heap(top_scores, top_documents, n)
    return n


@kernel
def _top_k_of_queries(
    lo, hi, work, term_offsets, terms, factors, offsets, documents, weights, n_documents, scores, top_documents, sizes
):
    no_filter = np.empty(0, np.bool_)
    for q in range(lo, hi):
        a, b = term_offsets[q], term_offsets[q + 1]
        sizes[q] = _top_k(
            terms[a:b], factors[a:b], offsets, documents, weights, n_documents, no_filter, scores[q], top_documents[q]
        )
