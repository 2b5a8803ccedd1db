"""Proximity of query terms in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.base import RetrievalModel, TermModel
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.queries import Inquiry

__all__ = ["Proximity"]

_BM25 = BM25()

#: Columns of `proximity_table`.
PROXIMITY = ("minimum_distance", "average_distance", "span", "cover", "ordered", "unordered", "first", "matched")
#: Words within which two neighbouring query terms count as close, in either order.
WINDOW = 8
#: Query terms that are looked at; the rest of a longer query is ignored.
_MOST = 64


@dataclass(frozen=True, kw_only=True)
class Proximity(RetrievalModel):
    r"""A term model with a bonus for query terms that are close to each other.

    .. math:: s(q, d) = s_0(q, d) + w \log(\alpha + e^{-\delta(q, d)})

    Parameters
    ----------
    model
        s₀; None: the bonus alone.
    distance
        δ: ``"minimum_distance"`` between two different query terms, ``"average_distance"`` of pairs of query terms (the
        smallest of each pair), ``"span"`` from the first to the last query term in the document, ``"cover"``: length of
        the shortest part that has every matched query term. A document with fewer than two of them has no bonus.
    alpha
        How much the bonus varies; above 0.
    weight
        w.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["wind tunnel test flow", "wind test flow tunnel"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> Proximity().search(index, "wind tunnel").documents.tolist()
    [0, 1]

    References
    ----------
    Tao, Zhai: An exploration of proximity measures in information retrieval. SIGIR 2007.
    """

    name: ClassVar[str] = "Proximity"
    cost: ClassVar[float] = 4.0

    model: TermModel | None = _BM25
    distance: str = "minimum_distance"
    alpha: float = 0.3
    weight: float = 1.0

    def _check(self) -> None:
        self.expect(self.distance in PROXIMITY[:4], "distance", f"give one of {', '.join(PROXIMITY[:4])}")
        self.expect(self.alpha > 0, "alpha", "give a number above 0")

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        terms = inquiry.queries.numbers(inquiry.field)
        table = proximity_table(inquiry.field, *terms, offsets, documents, inquiry.n_jobs)
        distance = table[:, PROXIMITY.index(self.distance)]
        far = table[:, PROXIMITY.index("matched")] < 2
        bonus = np.log(self.alpha + np.where(far, 0.0, np.exp(-np.where(far, 0.0, distance))))
        if self.model is None:
            return self.weight * bonus
        return self.model.score_pairs(inquiry, offsets, documents) + self.weight * bonus


def proximity_table(
    field: Field,
    query_offsets: np.ndarray,
    query_terms: np.ndarray,
    offsets: Any,
    documents: Any,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Proximity features of candidates, float32: a row per pair, a column for each of `PROXIMITY`.

    Distances are in words. ``ordered`` is how often two neighbouring query terms follow each other in the document,
    ``unordered`` how often they occur within eight words, ``first`` the position of the first query term. Without a
    match (for the distances: without two different ones) a value is the length of the document with its stop words.
    ``query_terms`` has the terms of each query in order, -1 for stop words and unknown terms.
    """
    offsets, documents = np.asarray(offsets, np.int64), np.asarray(documents, np.int64)
    out = np.empty((documents.size, len(PROXIMITY)), np.float32)
    over_queries(
        _proximity,
        offsets,
        query_offsets,
        query_terms,
        documents,
        field.stream.offsets,
        field.stream.terms,
        max(field.n_terms, 1),
        out,
        n_jobs=n_jobs,
    )
    return out


@kernel
def _number_terms(terms, slot, own, follows):
    """Number the distinct terms of a query, and note which are neighbours; how many there are."""
    m = 0
    before = -1
    for t in terms:
        if t < 0:
            before = -1
            continue
        if slot[t] < 0:
            if m == _MOST:
                continue
            slot[t] = m
            own[m] = t
            m += 1
        if before >= 0:
            follows[before, slot[t]] = True
        before = slot[t]
    return m


@kernel
def _distances(closest, m, length):
    """The least and the mean of the distances of the pairs that occur; the length of the document if none does."""
    least, total, pairs = length, 0, 0
    for a in range(m):
        for b in range(a):
            if closest[a, b] >= 0:
                pairs += 1
                total += closest[a, b]
                if closest[a, b] < least:
                    least = closest[a, b]
    return least, total / pairs if pairs > 0 else np.float64(length)


@kernel
def _proximity(lo, hi, offsets, query_offsets, query_terms, documents, starts, stream, n_terms, out):
    """One pass over the words of each document."""
    slot = np.full(n_terms, -1, np.int16)  # number of a term among the distinct terms of the query
    own = np.empty(_MOST, np.int32)
    follows = np.zeros((_MOST, _MOST), np.bool_)  # whether two terms are neighbours in the query, in this order
    last = np.empty(_MOST, np.int64)
    closest = np.empty((_MOST, _MOST), np.int64)
    for q in range(lo, hi):
        m = _number_terms(query_terms[query_offsets[q] : query_offsets[q + 1]], slot, own, follows)
        for p in range(offsets[q], offsets[q + 1]):
            begin, end = starts[documents[p]], starts[documents[p] + 1]
            for a in range(m):
                last[a] = -1
                for b in range(m):
                    closest[a, b] = -1
            ordered, unordered, first, final, matched = 0, 0, -1, -1, 0
            cover = end - begin
            for i in range(begin, end):
                t = stream[i]
                if t < 0 or slot[t] < 0:
                    continue
                a = slot[t]
                at = i - begin
                if first < 0:
                    first = at
                final = at
                if last[a] < 0:
                    matched += 1
                    cover = end - begin  # a new term: shorter parts without it do not count
                earliest = at
                for b in range(m):
                    if b == a or last[b] < 0:
                        continue
                    gap = at - last[b]
                    if closest[a, b] < 0 or gap < closest[a, b]:
                        closest[a, b] = gap
                        closest[b, a] = gap
                    if last[b] < earliest:
                        earliest = last[b]
                    if follows[b, a] and gap == 1:
                        ordered += 1
                    if (follows[b, a] or follows[a, b]) and gap < WINDOW:
                        unordered += 1
                if follows[a, a] and last[a] >= 0:
                    gap = at - last[a]
                    ordered += gap == 1
                    unordered += gap < WINDOW
                last[a] = at
                if at - earliest + 1 < cover:
                    cover = at - earliest + 1
            out[p, 0], out[p, 1] = _distances(closest, m, end - begin)
            out[p, 2] = final - first if matched > 1 else end - begin
            out[p, 3] = cover
            out[p, 4] = ordered
            out[p, 5] = unordered
            out[p, 6] = first if first >= 0 else end - begin
            out[p, 7] = matched
        for a in range(m):
            slot[own[a]] = -1
            for b in range(m):
                follows[a, b] = False
