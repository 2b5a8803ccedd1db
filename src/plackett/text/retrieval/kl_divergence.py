"""KL-divergence retrieval with model-based feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, TermModel
from plackett.text.retrieval.dirichlet import Dirichlet
from plackett.text.retrieval.feedback import add_queries, normalized
from plackett.text.retrieval.mixture import feedback_terms, mixture_topics, strongest
from plackett.text.retrieval.queries import QueryTerms
from plackett.text.retrieval.relevance_model import ExpandedModel

__all__ = ["KLDivergence"]

_DIRICHLET = Dirichlet()


@dataclass(frozen=True, kw_only=True)
class KLDivergence(ExpandedModel):
    r"""KL-divergence retrieval: documents whose language model is closest to that of the query.

    .. math:: -\mathrm{KL}(\theta_q \Vert \theta_d) = \sum_t \theta_q(t) \log p(t \mid d) + \text{const}(q)

    The constant is left out, so with ``weight=0`` a score is the log-likelihood of the query divided by its length.
    With feedback, :math:`\theta_q` is mixed with a topic model of the best documents: what remains of their language
    once a share of it is explained by the collection (a two-component mixture, fitted by EM).

    Parameters
    ----------
    model
        Language model of the documents.
    n_documents, n_terms
        Number of feedback documents and of expansion terms.
    weight
        Weight of the feedback in the query model, from 0 (no feedback) to 1.
    noise
        Share of the feedback documents that the collection explains.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> KLDivergence(model=Dirichlet(mu=10), weight=0.0).search(index, "blue").scores.round(3).tolist()
    [-0.486, -0.539]

    References
    ----------
    Zhai, Lafferty: Model-based feedback in the language modeling approach to information retrieval. CIKM 2001.
    """

    name: ClassVar[str] = "KLDivergence"
    aliases: ClassVar[tuple[str, ...]] = ("KL",)

    model: TermModel = _DIRICHLET
    weight: float = 0.5
    noise: float = 0.5

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.weight <= 1, "weight", "give a share from 0 to 1")
        self.expect(0 <= self.noise < 1, "noise", "give a share from 0 to below 1")

    def expanded(self, field: Field, query: QueryTerms, n_jobs: int | None = None) -> QueryTerms:
        """The queries after a first search."""
        return normalized(query) if self.weight == 0 else super().expanded(field, query, n_jobs)

    def _expand(self, field: Field, query: QueryTerms, first: Results, n_jobs: int | None = None) -> QueryTerms:
        feedback = feedback_terms(field, query, first.offsets, first.documents)
        topics = mixture_topics(feedback, first.offsets, self.noise, n_jobs=n_jobs)
        expansion = normalized(strongest(feedback, topics, self.n_terms))
        return add_queries(normalized(query), expansion, 1.0 - self.weight, self.weight)
