"""Rocchio's relevance feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.text.index.columns import join_lists
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, TermModel, as_queries
from plackett.text.retrieval.feedback import add_queries, expansion
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches, no_candidates
from plackett.text.retrieval.queries import QueryTerms
from plackett.text.retrieval.relevance_model import ExpandedModel
from plackett.text.retrieval.vector_space import VectorSpace

__all__ = ["Rocchio"]

_SPACE = VectorSpace()


@dataclass(frozen=True, kw_only=True)
class Rocchio(ExpandedModel):
    r"""Rocchio feedback: move the query vector towards relevant documents and away from others.

    .. math:: \tilde q = \alpha q + \frac{\beta}{|R|} \sum_{x \in R} x - \frac{\gamma}{|I|} \sum_{x \in I} x,
              \qquad s(d) = \tilde q \cdot x_d

    Vectors are TF-IDF vectors of length 1. It is one gradient step on a pointwise loss
    (`plackett.theory.rocchio_hidden_loss`). `search` takes the best documents of a first search as relevant;
    `with_judgements` takes judged ones.

    Parameters
    ----------
    alpha, beta, gamma
        Weights of the query, of relevant and of other documents.
    n_documents
        Number of documents taken as relevant by `search`.
    n_terms
        Number of terms kept from the documents, those with the largest coordinates.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["car engine", "car auto", "auto motor", "flower garden"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> Rocchio().with_judgements(index, {"q": "car"}, {"q": {"1": 1, "0": 0}}).documents.tolist()
    [1, 0, 2]

    References
    ----------
    Rocchio: Relevance feedback in information retrieval. In: The SMART retrieval system, 1971.
    """

    name: ClassVar[str] = "Rocchio"

    model: TermModel = _SPACE
    alpha: float = 1.0
    beta: float = 0.75
    gamma: float = 0.15

    def _check(self) -> None:
        super()._check()
        known = isinstance(self.model, VectorSpace) and self.model.tf in ("raw", "log", "length")
        self.expect(known, "model", "give a VectorSpace with tf 'raw', 'log' or 'length'")
        for name in ("alpha", "beta", "gamma"):
            self.expect(getattr(self, name) >= 0, name, "give a number of 0 or more")

    def expanded(self, field: Field, query: QueryTerms, n_jobs: int | None = None) -> QueryTerms:
        """The queries after a first search."""
        first = self.model.search_terms(field, query, self.n_documents, n_jobs)
        return self.moved(field, query, first.offsets, first.documents, np.ones(first.documents.size, np.bool_), n_jobs)

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
        """Search with judged documents: positive labels are relevant, others not. Unknown ids are ignored."""
        analysed, chosen = as_queries(queries, index), index.field(field)
        offsets, documents, relevant = judged_documents(index, analysed.ids, judgements)
        query = self.moved(chosen, analysed.terms(chosen), offsets, documents, relevant, n_jobs)
        return self._second.search_terms(chosen, query, k, n_jobs)

    @property
    def _space(self) -> VectorSpace:
        assert isinstance(self.model, VectorSpace)
        return self.model

    def moved(
        self,
        field: Field,
        query: QueryTerms,
        offsets: np.ndarray,
        documents: np.ndarray,
        relevant: np.ndarray,
        n_jobs: int | None = None,
    ) -> QueryTerms:
        """Query vectors after feedback: weights are coordinates, not counts."""
        row = np.repeat(np.arange(query.n_queries), np.diff(offsets))
        n_good = np.bincount(row[relevant], minlength=query.n_queries)[row]
        n_bad = np.bincount(row[~relevant], minlength=query.n_queries)[row]
        share = np.where(relevant, self.beta / np.maximum(n_good, 1), -self.gamma / np.maximum(n_bad, 1))
        space = self._space
        length = np.maximum(field.lengths[documents], 1)
        norm = space.document_values(field)
        if norm is not None:
            share = share / norm[documents]
        if space.tf.endswith("length"):
            share = share / length
        idf = IDF[space.idf](field.document_frequency, field.n_documents)
        added = expansion(
            field, offsets, documents, share, idf, self.n_terms, n_jobs, logarithmic=space.tf == "log", signed=True
        )
        return add_queries(self._query_vector(field, query), added, self.alpha, 1.0)

    def _query_vector(self, field: Field, query: QueryTerms) -> QueryTerms:
        matches = no_candidates(field, query)
        (weights,) = self._space._constants(matches)
        idf = IDF[self._space.idf](matches.document_frequency, field.n_documents)
        return query._replace(weights=np.divide(weights, idf, out=np.zeros(idf.size), where=idf != 0))

    @property
    def _second(self) -> TermModel:
        return _Given(tf=self._space.tf, idf=self._space.idf, cosine=self._space.cosine)


class _Given(VectorSpace):
    """The vector space for query vectors that are given as coordinates."""

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        return (matches.weights * IDF[self.idf](matches.document_frequency, matches.collection.n_documents),)


def judged_documents(
    index: Index, qids: list[str], judgements: Mapping[str, Mapping[str, float]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judged documents of each query that are in the index, and whether they are relevant."""
    lists, labels = [], []
    for qid in qids:
        own = judgements.get(qid, {})
        numbers = index.numbers([str(docid) for docid in own])
        lists.append(numbers[numbers >= 0])
        labels.append(np.array([label > 0 for label in own.values()], np.bool_)[numbers >= 0])
    return *join_lists(lists), np.concatenate([np.empty(0, np.bool_), *labels])
