"""The sequential dependence model: a random field of terms and pairs of neighbouring terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.base import RetrievalModel
from plackett.text.retrieval.dirichlet import Dirichlet
from plackett.text.retrieval.language_model import LanguageModel
from plackett.text.retrieval.matches import Collection, Matches
from plackett.text.retrieval.queries import Inquiry, Queries

__all__ = ["SequentialDependence"]

_DIRICHLET = Dirichlet()


@dataclass(frozen=True, kw_only=True)
class SequentialDependence(RetrievalModel):
    r"""Markov random field with sequential dependence: terms, ordered pairs and pairs within a window.

    .. math:: s(q, d) = \lambda_T \sum_t \log p(t \mid d) + \lambda_O \sum_i \log p(\#1(t_i t_{i+1}) \mid d)
              + \lambda_U \sum_i \log p(\#\mathrm{uw}(t_i t_{i+1}) \mid d)

    The pairs are of neighbouring query terms: exactly in this order, and in any order within a window, counted from
    left to right without overlap. Each has a smoothed language model like a term. Pairs that the collection lacks are
    left out. With weights (1, 0, 0) it is query likelihood.

    Parameters
    ----------
    weights
        λ of terms, ordered pairs and windows.
    window
        Number of words of a window, 2 or more.
    model
        Smoothing.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["wind tunnel test flow", "wind test flow tunnel"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> SequentialDependence().search(index, "wind tunnel").documents.tolist()
    [0, 1]

    References
    ----------
    Metzler, Croft: A Markov random field model for term dependencies. SIGIR 2005.
    """

    name: ClassVar[str] = "SequentialDependence"
    aliases: ClassVar[tuple[str, ...]] = ("SDM", "MRF")
    cost: ClassVar[float] = 10.0

    weights: tuple[float, float, float] = (0.85, 0.1, 0.05)
    window: int = 8
    model: LanguageModel = _DIRICHLET

    def _check(self) -> None:
        known = len(self.weights) == 3 and all(weight >= 0 for weight in self.weights)
        self.expect(known, "weights", "give three numbers of 0 or more")
        self.expect(self.window >= 2, "window", "give at least 2 words")

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        field, n_jobs = inquiry.field, inquiry.n_jobs
        total = self.weights[0] * self.model.score_pairs(inquiry, offsets, documents)
        if self.weights[1] or self.weights[2]:
            ordered, unordered = pair_matches(field, inquiry.queries, offsets, documents, self.window, n_jobs)
            total += self.weights[1] * self.model.of_matches(ordered, field, n_jobs)
            total += self.weights[2] * self.model.of_matches(unordered, field, n_jobs)
        return total


def pair_matches(
    field: Field, queries: Queries, offsets: np.ndarray, documents: np.ndarray, window: int, n_jobs: int | None = None
) -> tuple[Matches, Matches]:
    """Statistics of pairs of neighbouring query terms as if they were terms: in order, and within a window."""
    starts, terms = queries.numbers(field)
    row = np.repeat(np.arange(len(queries)), np.diff(starts))
    near = np.flatnonzero((row[1:] == row[:-1]) & (terms[1:] >= 0) & (terms[:-1] >= 0))
    pairs = np.column_stack([terms[near], terms[near + 1]]).astype(np.int64)
    pair_offsets = np.concatenate(([0], np.cumsum(np.bincount(row[near], minlength=len(queries)))))
    n = len(pairs)
    frequencies = np.zeros((n, 4))
    work = np.arange(n + 1) * 1000
    arrays = (field.stream.offsets, field.stream.terms)
    over_queries(_totals, work, pairs, *field.postings[:2], *arrays, window, frequencies, n_jobs=n_jobs)
    sizes = np.diff(pair_offsets) * np.diff(offsets)
    bases = np.concatenate(([0], np.cumsum(sizes)))
    counts = np.empty((2, bases[-1]), np.int32)
    over_queries(_in_pairs, offsets, pair_offsets, pairs, documents, bases, *arrays, window, counts, n_jobs=n_jobs)
    lengths = np.asarray(field.lengths)[documents]
    unique = np.diff(field.forward.offsets).astype(np.int32)[documents]
    shared = (lengths, unique, np.ones(n))
    return (
        Matches(
            offsets, pair_offsets, bases, counts[0], *shared, frequencies[:, 0], frequencies[:, 1], Collection.of(field)
        ),
        Matches(
            offsets, pair_offsets, bases, counts[1], *shared, frequencies[:, 2], frequencies[:, 3], Collection.of(field)
        ),
    )


@kernel
def _count(stream, begin, end, one, other, window):
    """How often ``one other`` occurs, and how often both within a window, from left to right without overlap."""
    ordered, unordered = 0, 0
    previous = -1
    open_at, open_term = -1, -1
    for i in range(begin, end):
        t = stream[i]
        if t == other and previous == one and i > begin:
            ordered += 1
        previous = t
        if t != one and t != other:
            continue
        if open_at >= 0 and i - open_at < window and (t != open_term or one == other):
            unordered += 1
            open_at = -1
        else:
            open_at, open_term = i, t
    return ordered, unordered


@kernel
def _totals(lo, hi, work, pairs, starts, documents, stream_offsets, stream, window, out):
    """Document and collection frequencies of pairs: only documents with both terms are read."""
    for j in range(lo, hi):
        one, other = pairs[j, 0], pairs[j, 1]
        a, b = starts[one], starts[other]
        while a < starts[one + 1] and b < starts[other + 1]:
            if documents[a] < documents[b]:
                a += 1
            elif documents[a] > documents[b]:
                b += 1
            else:
                d = documents[a]
                ordered, unordered = _count(stream, stream_offsets[d], stream_offsets[d + 1], one, other, window)
                out[j, 0] += ordered > 0
                out[j, 1] += ordered
                out[j, 2] += unordered > 0
                out[j, 3] += unordered
                a += 1
                b += 1


@kernel
def _in_pairs(lo, hi, offsets, pair_offsets, pairs, documents, bases, stream_offsets, stream, window, counts):
    for q in range(lo, hi):
        first = pair_offsets[q]
        m = pair_offsets[q + 1] - first
        at = bases[q]
        for p in range(offsets[q], offsets[q + 1]):
            d = documents[p]
            for j in range(m):
                counts[0, at + j], counts[1, at + j] = _count(
                    stream, stream_offsets[d], stream_offsets[d + 1], pairs[first + j, 0], pairs[first + j, 1], window
                )
            at += m
