"""Two-component mixtures: feedback documents as a mixture of a topic and the collection."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.queries import QueryTerms

_TINY = 1e-300


class FeedbackTerms(NamedTuple):
    """Terms of the feedback documents of each query, and the documents' entries in them."""

    #: int64, one more than queries: parts of `terms`.
    offsets: np.ndarray
    #: int32, increasing within a query; the query's own terms are among them.
    terms: np.ndarray
    #: float64: probability of each term in the collection.
    background: np.ndarray
    #: int64, one more than documents: parts of the entries.
    rows: np.ndarray
    #: int64: position of each entry's term among those of its query.
    slots: np.ndarray
    #: float64: how often the document has it.
    counts: np.ndarray


def feedback_terms(field: Field, query: QueryTerms, offsets: np.ndarray, documents: np.ndarray) -> FeedbackTerms:
    """Terms of feedback documents: ``documents[offsets[q]:offsets[q + 1]]`` are those of query q."""
    n = offsets.size - 1
    starts = field.forward.offsets
    sizes = np.diff(starts)[documents]
    rows = np.concatenate(([0], np.cumsum(sizes)))
    entries = np.arange(rows[-1]) + np.repeat(starts[:-1][documents] - rows[:-1], sizes)
    terms = field.forward.terms[entries].astype(np.int64)
    of_entry = np.repeat(np.repeat(np.arange(n), np.diff(offsets)), sizes)
    own = query.terms.astype(np.int64)
    of_own = np.repeat(np.arange(n), np.diff(query.offsets))
    width = max(field.n_terms, 1)
    keys = np.unique(np.concatenate([of_entry * width + terms, (of_own * width + own)[own >= 0]]))
    parts = np.searchsorted(keys, np.arange(n + 1) * width)
    slots = np.searchsorted(keys, of_entry * width + terms) - parts[of_entry]
    distinct = keys % width
    background = field.collection_frequency[distinct] / max(field.total_length, 1)
    counts = field.forward.counts[entries].astype(np.float64)
    return FeedbackTerms(parts, distinct.astype(np.int32), background, rows, slots, counts)


def mixture_topics(
    feedback: FeedbackTerms,
    offsets: np.ndarray,
    noise: float,
    *,
    max_iter: int = 50,
    tol: float = 1e-8,
    n_jobs: int | None = None,
) -> np.ndarray:
    """For each query the topic θ that maximises Σ c(t) log((1 − λ) θ(t) + λ p(t | C)), by EM."""
    topics = np.zeros(feedback.terms.size)
    over_queries(_mixture, offsets, *feedback, noise, max_iter, tol, topics, n_jobs=n_jobs, rows_per_thread=200)
    return topics


def regularized_topics(
    feedback: FeedbackTerms,
    offsets: np.ndarray,
    query: np.ndarray,
    start: float,
    decay: float,
    max_iter: int,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Topics with the query as a prior, whose weight falls until the documents say as much as the query.

    Each document has its own share of the topic; there is nothing to tune. ``query`` has the weight of each term.
    """
    topics = np.zeros(feedback.terms.size)
    over_queries(
        _regularized, offsets, *feedback, query, start, decay, max_iter, topics, n_jobs=n_jobs, rows_per_thread=100
    )
    return topics


def strongest(feedback: FeedbackTerms, values: np.ndarray, most: int) -> QueryTerms:
    """The terms of each query with the largest values; among equal values the first."""
    n = feedback.offsets.size - 1
    query = np.repeat(np.arange(n), np.diff(feedback.offsets))
    order = np.lexsort((feedback.terms, -values, query))
    order = order[(np.arange(order.size) - feedback.offsets[:-1][query] < most) & (values[order] > 0)]
    sizes = np.bincount(query[order], minlength=n)
    return QueryTerms(np.concatenate(([0], np.cumsum(sizes))), feedback.terms[order], values[order])


@kernel
def _mixture(lo, hi, documents, offsets, terms, background, rows, slots, counts, noise, max_iter, tol, topics):
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        total = np.zeros(b - a)
        topic = topics[a:b]
        for e in range(rows[documents[q]], rows[documents[q + 1]]):
            total[slots[e]] += counts[e]
        scale = max(total.sum(), 1.0)
        for i in range(b - a):
            topic[i] = total[i] / scale
        before = -np.inf
        own = np.zeros(b - a)
        for _ in range(max_iter):
            value, whole = 0.0, 0.0
            for i in range(b - a):
                if total[i] > 0.0:
                    mixed = max((1.0 - noise) * topic[i] + noise * background[a + i], _TINY)
                    value += total[i] * np.log(mixed)
                    own[i] = total[i] * (1.0 - noise) * topic[i] / mixed
                    whole += own[i]
            if value - before < tol * abs(value):
                break
            before = value
            for i in range(b - a):
                topic[i] = own[i] / max(whole, _TINY)


@kernel
def _regularized(
    lo, hi, documents, offsets, terms, background, rows, slots, counts, query, start, decay, max_iter, topics
):
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        first, last = documents[q], documents[q + 1]
        topic, evidence = topics[a:b], np.zeros(b - a)
        share = np.full(last - first, 0.5)
        for e in range(rows[first], rows[last]):
            evidence[slots[e]] += counts[e]
        whole = 0.0
        for i in range(b - a):  # the query alone would never let another term in
            topic[i] = start * query[a + i] + evidence[i]
            whole += topic[i]
        for i in range(b - a):
            topic[i] /= max(whole, _TINY)
        prior = start
        for _ in range(max_iter):
            evidence[:] = 0.0
            for d in range(first, last):
                own_total, length = 0.0, 0.0
                for e in range(rows[d], rows[d + 1]):
                    i = slots[e]
                    inner = share[d - first] * topic[i]
                    own = counts[e] * inner / max(inner + (1.0 - share[d - first]) * background[a + i], _TINY)
                    evidence[i] += own
                    own_total += own
                    length += counts[e]
                share[d - first] = own_total / max(length, 1.0)
            whole, from_documents = 0.0, 0.0
            for i in range(b - a):
                topic[i] = prior * query[a + i] + evidence[i]
                whole += topic[i]
                from_documents += evidence[i]
            for i in range(b - a):
                topic[i] /= max(whole, _TINY)
            if from_documents >= prior:
                break
            prior *= decay
