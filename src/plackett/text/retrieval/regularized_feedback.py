"""Feedback with a topic model that is regularised by its similarity to the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, TermModel
from plackett.text.retrieval.dirichlet import Dirichlet
from plackett.text.retrieval.feedback import normalized
from plackett.text.retrieval.kl_divergence import strongest
from plackett.text.retrieval.mixture import feedback_counts, regularized_topic
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
    _ids: ClassVar[tuple[str, ...]] = ("conv.similarity_reg",)
    paper: ClassVar[str] = "Tao, Zhai 2006"

    model: TermModel = _DIRICHLET
    prior: float = 30000.0
    decay: float = 0.9

    def _check(self) -> None:
        super()._check()
        self.expect(self.prior > 0, "prior", "give a number above 0")
        self.expect(0 < self.decay < 1, "decay", "give a factor between 0 and 1")

    def _expand(self, field: Field, query: QueryTerms, first: Results, n_jobs: int | None = None) -> QueryTerms:
        given = normalized(query)
        found = []
        for q in range(query.n_queries):
            own, weights = given.of(q)
            own, weights = own[own >= 0], weights[own >= 0]
            terms, counts, background = feedback_counts(field, first.of(q)[0])
            missing = np.setdiff1d(own, terms)
            terms = np.concatenate([terms, missing])
            counts = np.hstack([counts, np.zeros((counts.shape[0], missing.size))])
            share = field.collection_frequency[missing] / max(field.total_length, 1)
            background = np.concatenate([background, share])
            order = np.argsort(terms)
            terms, counts, background = terms[order], counts[:, order], background[order]
            wanted = np.zeros(terms.size)
            wanted[np.searchsorted(terms, own)] = weights
            steps = int(np.ceil(np.log(max(self.prior, 2.0)) / -np.log(self.decay))) + 50
            topic = regularized_topic(counts, background, wanted, self.prior, self.decay, steps)
            found.append(strongest(terms, topic, self.n_terms))
        return normalized(QueryTerms.from_lists(found))
