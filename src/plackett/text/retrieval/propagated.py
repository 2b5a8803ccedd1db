"""Models whose scores are propagated along links or site maps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.graph.links import LinkGraph
from plackett.graph.propagation import SCHEMES, propagate_links, propagate_site
from plackett.graph.sitemap import SiteMap
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, TermModel, best
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.matches import match
from plackett.text.retrieval.queries import Inquiry, Queries, QueryTerms

__all__ = ["Propagated"]

_BM25 = BM25()
#: Scores of queries that are propagated together: documents × queries.
_CELLS = 1 << 22


def link_graph(index: Index) -> LinkGraph:
    """The links between the documents of an index, without those of a document to itself."""
    graph: LinkGraph = index.kept.of(
        "links",
        lambda: LinkGraph.from_arrays(
            *index.edges(), index.n_documents, names=index.ids.to_numpy().tolist(), self_links=False
        ),
    )
    return graph


def site_map(index: Index, field: str) -> SiteMap:
    """The site map of the URLs in a stored field."""
    sitemap: SiteMap = index.kept.of(("sites", field), lambda: SiteMap.from_urls(index.values(field).tolist()))
    return sitemap


@dataclass(frozen=True, kw_only=True)
class Propagated(RetrievalModel):
    """Relevance propagation: a document's score gains from the documents that it is linked with.

    Parameters
    ----------
    model
        Term model whose scores, or whose term counts, are propagated.
    along
        ``"site"``: up the site map; ``"in"``, ``"out"``, ``"uniform-out"``: over hyperlinks (`propagate_links`).
    terms
        Whether term counts are propagated instead of scores; the model then works on the propagated counts.
    alpha
        Share of a document's own relevance (see `propagate_site`, `propagate_links`).
    steps
        Steps over hyperlinks; None: until nothing changes.
    url
        Stored field with the URLs, for ``along="site"``.

    Examples
    --------
    >>> from plackett.text import Document, Index, Link
    >>> index = Index.build([Document("a", {"body": "blue"}), Document("b", {"body": "sky"}, (Link("a"),))])
    >>> Propagated(along="uniform-out").search(index, "blue").documents.tolist()  # b links to a relevant page
    [0, 1]

    References
    ----------
    Shakery, Zhai: A probabilistic relevance propagation model for hypertext retrieval. CIKM 2006.
    Qin, Liu, Zhang, Chen, Ma: A study of relevance propagation for web search. SIGIR 2005.
    """

    name: ClassVar[str] = "Propagated"
    cost: ClassVar[float] = 100.0

    model: TermModel = _BM25
    along: str = "in"
    terms: bool = False
    alpha: float = 0.5
    steps: int | None = None
    url: str = "url"

    def _check(self) -> None:
        self.expect(self.along in ("site", *SCHEMES), "along", f"give one of site, {', '.join(SCHEMES)}")
        self.expect(0 <= self.alpha <= 1, "alpha", "give a share from 0 to 1")

    def of_documents(self, index: Index, queries: Queries, q: int, field: str | None) -> np.ndarray:
        """Scores of all documents for one query; 0 for those that, like their neighbours, have none of its terms."""
        inquiry = Inquiry(index, queries, field)
        own = inquiry.terms.part(q, q + 1)
        return self._of_terms(inquiry, own) if self.terms else self._of_scores(inquiry, own)[:, 0]

    def _of_scores(self, inquiry: Inquiry, query: QueryTerms) -> np.ndarray:
        """Propagated scores, a row per document and a column per query."""
        n = inquiry.index.n_documents
        results = self.model.search_terms(inquiry.field, query, n, inquiry.n_jobs)
        row = np.repeat(np.arange(query.n_queries), np.diff(results.offsets))
        low = np.zeros(query.n_queries)
        np.minimum.at(low, row, results.scores)
        scores = np.zeros((n, query.n_queries))
        scores[results.documents, row] = results.scores - low[row]  # propagation needs scores of 0 or more
        return self._spread(inquiry.index, scores, weights=scores)

    def _of_terms(self, inquiry: Inquiry, query: QueryTerms) -> np.ndarray:
        """Scores of one query on propagated counts, a number per document."""
        n = inquiry.index.n_documents
        matches = match(inquiry.field, query, np.array([0, n]), np.arange(n))
        counts = matches.counts.reshape(n, -1).astype(np.float64)
        counts = self._spread(inquiry.index, counts)
        touched = counts.sum(axis=1) > 0
        return self.model.of_matches(matches._replace(counts=counts.ravel()), inquiry.field) * touched

    def _tables(self, inquiry: Inquiry) -> Iterator[tuple[int, np.ndarray]]:
        """Scores of all documents for some queries at a time: the first query, and a column for each."""
        n = len(inquiry.queries)
        step = 1 if self.terms else max(1, min(64, _CELLS // max(inquiry.index.n_documents, 1)))
        for lo in range(0, n, step):
            own = inquiry.terms.part(lo, min(lo + step, n))
            yield lo, self._of_terms(inquiry, own)[:, None] if self.terms else self._of_scores(inquiry, own)

    def _spread(self, index: Index, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        if self.along == "site":
            return propagate_site(values, site_map(index, self.url), alpha=self.alpha)
        return propagate_links(
            values, link_graph(index), scheme=self.along, alpha=self.alpha, steps=self.steps, weights=weights
        )

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query."""
        parts = []
        for _, table in self._tables(inquiry):
            query, documents = np.nonzero(table.T)
            offsets = np.searchsorted(query, np.arange(table.shape[1] + 1))
            parts.append(best(offsets, documents, table[documents, query], k))
        return Results.joined(parts)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        out = np.empty(documents.size)
        query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        for lo, table in self._tables(inquiry):
            part = slice(offsets[lo], offsets[lo + table.shape[1]])
            out[part] = table[documents[part], query[part] - lo]
        return out
