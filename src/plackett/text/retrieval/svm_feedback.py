"""Relevance feedback by a support vector machine per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, TermModel, as_queries, best
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.queries import Inquiry
from plackett.text.retrieval.rocchio import judged_documents
from plackett.text.retrieval.vector_space import unit_vectors

__all__ = ["SVMFeedback"]

_BM25 = BM25()


@dataclass(frozen=True, kw_only=True)
class SVMFeedback(RetrievalModel):
    r"""SVM feedback: a linear SVM, trained on the feedback documents of one query, ranks that query's documents.

    .. math:: \min_w \tfrac{1}{2} \lVert w \rVert^2 + C \sum_i \max(0, 1 - y_i\, w \cdot x_i), \qquad s(d) = w \cdot x_d

    Vectors are TF-IDF vectors of length 1. `search` takes the first documents of a search as relevant and the last ones
    as irrelevant; `with_judgements` takes judged documents. A query without documents of both kinds keeps the scores of
    the first model.

    Parameters
    ----------
    model
        Model of the first search.
    n_documents
        Number of documents taken as relevant, and as many from the end of the list as irrelevant.
    depth
        Length of the list that is re-ranked.
    C
        Weight of errors.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["car engine", "car auto", "auto motor", "car flower"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> SVMFeedback().with_judgements(index, {"q": "car auto"}, {"q": {"1": 1, "3": 0}}).documents.tolist()
    [1, 2, 0, 3]

    References
    ----------
    Drucker, Shahrary, Gibbon: Support vector machines: relevance feedback and information retrieval. Information
    Processing & Management 38, 2002.
    """

    name: ClassVar[str] = "SVMFeedback"
    cost: ClassVar[float] = 50.0

    model: TermModel = _BM25
    n_documents: int = 10
    depth: int = 1000
    C: float = 1.0

    def _check(self) -> None:
        self.expect(self.n_documents >= 1, "n_documents", "give at least one feedback document")
        self.expect(self.depth >= 1, "depth", "give a number of documents")
        self.expect(self.C > 0, "C", "give a number above 0")

    def with_judgements(
        self,
        index: Index,
        queries: Any,
        judgements: Mapping[str, Mapping[str, float]],
        k: int = 1000,
        *,
        field: str | None = None,
        n_jobs: int | None = None,
    ) -> Results:
        """Re-rank the first search with judged documents: positive labels are relevant, others not."""
        inquiry = Inquiry(index, as_queries(queries, index), field, n_jobs)
        offsets, documents, relevant = judged_documents(index, inquiry.queries.ids, judgements)
        first = self.model.find_best(inquiry, self.depth)
        scores = first.scores.copy()
        for q in range(len(inquiry.queries)):
            part, own = slice(first.offsets[q], first.offsets[q + 1]), slice(offsets[q], offsets[q + 1])
            scores[part] = self._rank(inquiry.field, first.documents[part], scores[part], documents[own], relevant[own])
        return best(first.offsets, first.documents, scores, k)

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query."""
        first = self.model.find_best(inquiry, self.depth)
        return best(first.offsets, first.documents, self._from(inquiry.field, first, *first), k)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        first = self.model.find_best(inquiry, self.depth)
        return self._from(inquiry.field, first, offsets, documents, self.model.score_pairs(inquiry, offsets, documents))

    def _from(
        self, field: Field, first: Results, offsets: np.ndarray, documents: np.ndarray, scores: np.ndarray
    ) -> np.ndarray:
        """Scores of documents by machines trained on the two ends of a first search."""
        out = scores.copy()
        for q in range(offsets.size - 1):
            part, ranked = slice(offsets[q], offsets[q + 1]), first.of(q)[0]
            n = min(self.n_documents, ranked.size // 2)
            chosen = np.concatenate([ranked[:n], ranked[ranked.size - n :]])
            good = np.arange(chosen.size) < n
            out[part] = self._rank(field, documents[part], scores[part], chosen, good)
        return out

    def _rank(
        self, field: Field, documents: np.ndarray, scores: np.ndarray, judged: np.ndarray, relevant: np.ndarray
    ) -> np.ndarray:
        if relevant.all() or not relevant.any() or not documents.size:
            return scores
        from sklearn.svm import LinearSVC

        vectors = unit_vectors(field)
        machine = LinearSVC(C=self.C, loss="hinge", fit_intercept=False, max_iter=20_000, random_state=0)
        machine.fit(vectors[judged], relevant)
        return np.asarray(machine.decision_function(vectors[documents]))
