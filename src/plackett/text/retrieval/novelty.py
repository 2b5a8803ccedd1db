"""Base of models that look at the documents already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, RetrievalModel, best
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.queries import Inquiry

_BM25 = BM25()


@dataclass(frozen=True, kw_only=True)
class GreedyModel(RetrievalModel):
    """Models that re-rank the first documents of another model one by one, looking at those already chosen.

    Scores are the values at which documents were chosen, which never increase; documents below ``depth`` follow in
    their order.
    """

    cost: ClassVar[float] = 100.0

    model: RetrievalModel = _BM25
    depth: int = 100

    def _check(self) -> None:
        self.expect(self.depth >= 1, "depth", "give a number of documents")

    def _choose(
        self, field: Field, offsets: np.ndarray, documents: np.ndarray, relevance: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Values at which the documents of each query are chosen; they are given in the order of their relevance."""
        raise NotImplementedError

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query."""
        results = self.model.find_best(inquiry, max(k, self.depth))
        return best(results.offsets, results.documents, self._all(inquiry, *results), k)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        return self._all(inquiry, offsets, documents, self.model.score_pairs(inquiry, offsets, documents))

    def _all(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray, scores: np.ndarray) -> np.ndarray:
        query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        order = np.lexsort((documents, -scores, query))
        rank = np.arange(order.size) - offsets[:-1][query]
        head = order[rank < self.depth]
        sizes = np.minimum(np.diff(offsets), self.depth)
        heads = np.concatenate(([0], np.cumsum(sizes)))
        values = self._choose(inquiry.field, heads, documents[head], scaled(heads, scores[head]), inquiry.n_jobs)
        lowest = np.full(sizes.size, np.inf)
        np.minimum.at(lowest, np.repeat(np.arange(sizes.size), sizes), values)
        out = np.empty(documents.size)
        out[order] = lowest[query] - (rank - self.depth + 1)  # the rest, in its order
        out[head] = values
        return out


def scaled(offsets: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Scores of each query from 0 to 1, the best 1: a share of the largest, or, for log-probabilities, of the largest
    likelihood.
    """
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    high, low = np.full(offsets.size - 1, -np.inf), np.full(offsets.size - 1, np.inf)
    np.maximum.at(high, query, scores)
    np.minimum.at(low, query, scores)
    high, low = high[query], low[query]
    shares = np.divide(scores, high, out=np.ones(scores.size), where=high > 0)
    return np.where(low < 0, np.exp(np.minimum(scores - high, 0.0)), shares)


@kernel
def new_share(terms, counts, background, old, size):
    """Share λ of the background in the mixture of old text and background that explains a document best, by EM.

    ``old`` is the sum of ``size`` distributions over all terms.
    """
    share = 0.5
    total = 0.0
    for i in range(terms.size):
        total += counts[i]
    for _ in range(100):
        before = share
        part = 0.0
        for i in range(terms.size):
            noise = share * background[terms[i]]
            whole = noise + (1.0 - share) * old[terms[i]] / size
            if whole > 0.0:
                part += counts[i] * noise / whole
        share = part / max(total, 1.0)
        if abs(share - before) < 1e-6:
            break
    return share
