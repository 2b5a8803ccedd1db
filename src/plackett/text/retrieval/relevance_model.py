"""Relevance models: RM1 and RM3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, RetrievalModel, TermModel
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.feedback import add_queries, expansion, normalized
from plackett.text.retrieval.queries import Inquiry, QueryTerms

__all__ = ["RM3"]

_BM25 = BM25()


@dataclass(frozen=True, kw_only=True)
class ExpandedModel(RetrievalModel):
    """Models that search, look at the best documents, and search again with an expanded query.

    Parameters
    ----------
    model
        Term model of both searches.
    n_documents
        Number of feedback documents.
    n_terms
        Number of expansion terms.
    """

    cost: ClassVar[float] = 10.0

    model: TermModel = _BM25
    n_documents: int = 10
    n_terms: int = 30

    def _check(self) -> None:
        self.expect(self.n_documents >= 1, "n_documents", "give at least one feedback document")
        self.expect(self.n_terms >= 1, "n_terms", "give at least one term")

    @property
    def _second(self) -> TermModel:
        """Model of the second search."""
        return self.model

    def _expand(self, field: Field, query: QueryTerms, first: Results, n_jobs: int | None = None) -> QueryTerms:
        """The expanded queries, given the results of the first search."""
        raise NotImplementedError

    def expanded(self, field: Field, query: QueryTerms, n_jobs: int | None = None) -> QueryTerms:
        """The queries after a first search."""
        return self._expand(field, query, self.model.search_terms(field, query, self.n_documents, n_jobs), n_jobs)

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents for each expanded query."""
        field, n_jobs = inquiry.field, inquiry.n_jobs
        return self._second.search_terms(field, self.expanded(field, inquiry.terms, n_jobs), k, n_jobs)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates for the expanded queries."""
        field, n_jobs = inquiry.field, inquiry.n_jobs
        return self._second.score_terms(field, self.expanded(field, inquiry.terms, n_jobs), offsets, documents, n_jobs)


@dataclass(frozen=True, kw_only=True)
class RM3(ExpandedModel):
    r"""Relevance model RM3: the query mixed with the language of its best documents.

    .. math:: p(t \mid q') = (1 - \beta)\, p(t \mid q)
              + \beta \sum_{d} p(t \mid d)\, \frac{p(q \mid d)}{\sum_{d'} p(q \mid d')}

    The sum over the feedback documents is RM1. Where the first model's scores are not log-probabilities, documents are
    weighted in proportion to their scores.

    Parameters
    ----------
    model
        Term model of both searches.
    n_documents, n_terms
        Number of feedback documents and of expansion terms.
    weight
        β, the weight of the expansion. With 0 it is the model itself, with 1 it is RM1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["car engine", "car auto", "auto motor", "flower garden"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> RM3(n_documents=2).search(index, "car").documents.tolist()  # "auto motor" is found by the expansion
    [0, 1, 2]

    References
    ----------
    Lavrenko, Croft: Relevance-based language models. SIGIR 2001.
    Abdul-Jaleel et al.: UMass at TREC 2004: novelty and HARD. TREC 2004.
    """

    name: ClassVar[str] = "RM3"
    aliases: ClassVar[tuple[str, ...]] = ("RelevanceModel",)

    weight: float = 0.5

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.weight <= 1, "weight", "give a share from 0 to 1")

    def _expand(self, field: Field, query: QueryTerms, first: Results, n_jobs: int | None = None) -> QueryTerms:
        share = document_weights(self.model, first) / np.maximum(field.lengths[first.documents], 1)
        added = expansion(field, first.offsets, first.documents, share, np.ones(field.n_terms), self.n_terms, n_jobs)
        return add_queries(normalized(query), normalized(added), 1.0 - self.weight, self.weight)


def document_weights(model: TermModel, results: Results) -> np.ndarray:
    """Share of each feedback document: p(d | q) where scores are log-probabilities, else in proportion to scores."""
    row = np.repeat(np.arange(results.offsets.size - 1), np.diff(results.offsets))
    value = results.scores
    if getattr(model, "log_probability", False):
        top = np.full(results.offsets.size - 1, -np.inf)
        np.maximum.at(top, row, value)
        value = np.exp(value - top[row])
    value = np.maximum(value, 0.0)
    total = np.bincount(row, value, results.offsets.size - 1)
    size = np.diff(results.offsets)[row]
    return np.where(total[row] > 0, value / np.where(total > 0, total, 1.0)[row], 1.0 / np.maximum(size, 1))
