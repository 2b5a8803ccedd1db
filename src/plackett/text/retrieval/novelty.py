"""What models share that look at the documents already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernel import kernel
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, best
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.queries import Queries
from plackett.text.retrieval.svm_feedback import unit_vectors

__all__ = ["GreedyModel", "new_share", "scaled", "similarities"]

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

    def _choose(self, index: Index, field: str | None, documents: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Values of the documents of one query."""
        raise NotImplementedError

    def _values(self, index: Index, field: str | None, documents: np.ndarray, scores: np.ndarray) -> np.ndarray:
        order = np.lexsort((documents, -scores))
        head, tail = order[: self.depth], order[self.depth :]
        out = np.empty(scores.size)
        if head.size:
            out[head] = self._choose(index, field, documents[head], scores[head])
            out[tail] = out[head].min() - np.arange(1, tail.size + 1)
        return out

    def _search(self, index: Index, queries: Queries, k: int, field: str | None, n_jobs: int | None) -> Results:
        found = self.model.search(index, queries, max(k, self.depth), field=field, n_jobs=n_jobs)
        return best(found.offsets, found.documents, self._all(index, field, *found), k)

    def _scores(
        self,
        index: Index,
        queries: Queries,
        offsets: np.ndarray,
        documents: np.ndarray,
        field: str | None,
        n_jobs: int | None,
    ) -> np.ndarray:
        scores = self.model.scores(index, queries, offsets, documents, field=field, n_jobs=n_jobs)
        return self._all(index, field, offsets, documents, scores)

    def _all(
        self, index: Index, field: str | None, offsets: np.ndarray, documents: np.ndarray, scores: np.ndarray
    ) -> np.ndarray:
        out = np.empty(documents.size)
        for q in range(offsets.size - 1):
            part = slice(offsets[q], offsets[q + 1])
            out[part] = self._values(index, field, documents[part], scores[part])
        return out


def scaled(scores: np.ndarray) -> np.ndarray:
    """Scores from 0 to 1, the best 1: a share of the largest, or, for log-probabilities, of the largest likelihood."""
    high = scores.max()
    if scores.min() < 0:
        return np.exp(scores - high)
    return scores / high if high > 0 else np.ones(scores.size)


def similarities(index: Index, field: str | None, documents: np.ndarray) -> np.ndarray:
    """Cosines of TF-IDF vectors of some documents."""
    vectors: Any = unit_vectors(index, field)[documents]
    return np.asarray((vectors @ vectors.T).toarray())


@kernel
def new_share(counts, background, old):  # type: ignore[no-untyped-def]
    """Share λ of the background in the mixture of old text and background that explains a document best, by EM."""
    share = 0.5
    total = counts.sum()
    for _ in range(100):
        before = share
        part = 0.0
        for t in range(counts.size):
            if counts[t] > 0:
                noise = share * background[t]
                whole = noise + (1.0 - share) * old[t]
                if whole > 0.0:
                    part += counts[t] * noise / whole
        share = part / max(total, 1.0)
        if abs(share - before) < 1e-6:
            break
    return share
