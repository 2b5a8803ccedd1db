"""Two-component mixtures: feedback documents as a mixture of a topic and the collection."""

from __future__ import annotations

import numpy as np

from plackett.text.index.field import Field

__all__ = ["feedback_counts", "mixture_topic", "regularized_topic"]


def feedback_counts(field: Field, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct terms of some documents, their counts (documents × terms), and their probabilities in the collection."""
    starts = field.forward.offsets
    parts = [slice(starts[d], starts[d + 1]) for d in documents]
    found = [field.forward.terms[part] for part in parts]
    terms = np.unique(np.concatenate([np.empty(0, np.int32), *found]))
    counts = np.zeros((len(parts), terms.size))
    for row, (part, own) in enumerate(zip(parts, found, strict=True)):
        counts[row, np.searchsorted(terms, own)] = field.forward.counts[part]
    return terms, counts, field.collection_frequency[terms] / max(field.total_length, 1)


def mixture_topic(
    counts: np.ndarray, background: np.ndarray, noise: float, max_iter: int = 50, tol: float = 1e-8
) -> tuple[np.ndarray, list[float]]:
    """The topic θ that maximises Σ c(t) log((1 − λ) θ(t) + λ p(t | C)), by EM; and the likelihoods on the way."""
    total = counts.sum(axis=0)
    topic = total / max(total.sum(), 1.0)
    values: list[float] = []
    for _ in range(max_iter):
        mixed = (1.0 - noise) * topic + noise * background
        values.append(float(total @ np.log(np.maximum(mixed, 1e-300))))
        if len(values) > 1 and values[-1] - values[-2] < tol * abs(values[-1]):
            break
        own = total * (1.0 - noise) * topic / np.maximum(mixed, 1e-300)
        topic = own / max(own.sum(), 1e-300)
    return topic, values


def regularized_topic(
    counts: np.ndarray, background: np.ndarray, query: np.ndarray, start: float, decay: float, max_iter: int = 100
) -> np.ndarray:
    """A topic with the query as a prior, whose weight falls until the documents say as much as the query.

    Each document has its own share of the topic; there is nothing to tune.
    """
    lengths = np.maximum(counts.sum(axis=1), 1.0)
    share = np.full(counts.shape[0], 0.5)
    topic = start * query + counts.sum(axis=0)  # the query alone would never let another term in
    topic = topic / max(topic.sum(), 1e-300)
    prior = start
    for _ in range(max_iter):
        inner = share[:, None] * topic
        own = counts * inner / np.maximum(inner + (1.0 - share[:, None]) * background, 1e-300)
        share = own.sum(axis=1) / lengths
        evidence = own.sum(axis=0)
        topic = prior * query + evidence
        topic = topic / max(topic.sum(), 1e-300)
        if evidence.sum() >= prior:
            break
        prior *= decay
    return topic
