"""Feedback with a topic model that is regularised by its similarity to the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, TermModel
from plackett.text.retrieval.dirichlet import Dirichlet
from plackett.text.retrieval.feedback import normalized
from plackett.text.retrieval.mixture import feedback_terms, regularized_topics, strongest
from plackett.text.retrieval.queries import QueryTerms
from plackett.text.retrieval.relevance_model import ExpandedModel

__all__ = ["RegularizedFeedback"]

_DIRICHLET = Dirichlet()


@dataclass(frozen=True, kw_only=True)
class RegularizedFeedback(ExpandedModel):
    r"""Pseudo-relevance feedback that cannot drift from the query: a regularised mixture model.

    Each feedback document d is a mixture :math:`\alpha_d \theta + (1 - \alpha_d) p(\cdot \mid C)` with a share of its
    own, so that documents off the topic count little. The query is a prior on θ; its weight μ falls step by step until
    the documents contribute as much as the query does. There is no mixing weight to tune.

    Parameters
    ----------
    model
        Language model of the documents.
    n_documents, n_terms
        Number of feedback documents and of terms of the query model.
    prior
        μ at the start, in terms.
    decay
        Factor of μ per step, below 1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["car engine", "car auto", "auto motor", "flower garden"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> RegularizedFeedback(n_documents=2, prior=8).search(index, "car").documents.tolist()
    [0, 1, 2]

    References
    ----------
    Tao, Zhai: Regularized estimation of mixture models for robust pseudo-relevance feedback. SIGIR 2006.
    """

    name: ClassVar[str] = "RegularizedFeedback"

    model: TermModel = _DIRICHLET
    prior: float = 30000.0
    decay: float = 0.9

    def _check(self) -> None:
        super()._check()
        self.expect(self.prior > 0, "prior", "give a number above 0")
        self.expect(0 < self.decay < 1, "decay", "give a factor between 0 and 1")

    def _expand(self, field: Field, query: QueryTerms, first: Results, n_jobs: int | None = None) -> QueryTerms:
        given = normalized(query)
        feedback = feedback_terms(field, query, first.offsets, first.documents)
        owner = np.repeat(np.arange(query.n_queries), np.diff(query.offsets))
        width = max(field.n_terms, 1)
        keys = np.repeat(np.arange(query.n_queries), np.diff(feedback.offsets)) * width + feedback.terms
        known = given.terms >= 0
        query_weights = np.zeros(feedback.terms.size)
        query_weights[np.searchsorted(keys, owner[known] * width + given.terms[known])] = given.weights[known]
        steps = int(np.ceil(np.log(max(self.prior, 2.0)) / -np.log(self.decay))) + 50
        topics = regularized_topics(feedback, first.offsets, query_weights, self.prior, self.decay, steps, n_jobs)
        return normalized(strongest(feedback, topics, self.n_terms))
