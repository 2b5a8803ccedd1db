"""Models whose scores are propagated along links or site maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from plackett.graph.links import LinkGraph
from plackett.graph.propagation import SCHEMES, propagate_links, propagate_site
from plackett.graph.sitemap import SiteMap
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, TermModel, best
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.matches import match
from plackett.text.retrieval.queries import Queries

__all__ = ["Propagated", "link_graph", "site_map"]

_BM25 = BM25()

_GRAPHS: WeakKeyDictionary[Index, dict[str, LinkGraph | SiteMap]] = WeakKeyDictionary()


def link_graph(index: Index) -> LinkGraph:
    """The links between the documents of an index; links of a document to itself do not count."""
    kept = _GRAPHS.setdefault(index, {})
    if "links" not in kept:
        names = index.ids.to_numpy().tolist()
        kept["links"] = LinkGraph.from_arrays(*index.edges(), index.n_documents, names=names, self_links=False)
    found = kept["links"]
    assert isinstance(found, LinkGraph)
    return found


def site_map(index: Index, field: str) -> SiteMap:
    """The site map of the URLs in a stored field."""
    kept = _GRAPHS.setdefault(index, {})
    if field not in kept:
        kept[field] = SiteMap.from_urls(index.values(field).tolist())
    found = kept[field]
    assert isinstance(found, SiteMap)
    return found


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
    _ids: ClassVar[tuple[str, ...]] = ("conv.relevance_propagation", "relational.baseline.propagation")
    paper: ClassVar[str] = "Shakery, Zhai 2006"
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
        """Scores of all documents for one query; 0 for those without any of its terms, nor neighbours with them."""
        chosen = index.field(field)
        whole = queries.terms(chosen)
        own, weights = whole.of(q)
        query = type(whole)(np.array([0, own.size]), own, weights)
        n = index.n_documents
        if not self.terms:
            found = self.model.search_terms(chosen, query, n)
            scores = np.zeros(n)
            low = min(0.0, float(found.scores.min(initial=0.0)))
            scores[found.documents] = found.scores - low  # propagation needs scores of 0 or more
            return self._spread(index, scores)
        everything = match(chosen, query, np.array([0, n]), np.arange(n))
        counts = self._spread(index, everything.counts.reshape(n, -1).astype(np.float64))
        touched = counts.sum(axis=1) > 0
        return self.model.of_matches(everything._replace(counts=counts.ravel()), chosen) * touched

    def _spread(self, index: Index, values: np.ndarray) -> np.ndarray:
        if self.along == "site":
            return propagate_site(values, site_map(index, self.url), alpha=self.alpha)
        return propagate_links(values, link_graph(index), scheme=self.along, alpha=self.alpha, steps=self.steps)

    def _search(self, index: Index, queries: Queries, k: int, field: str | None, n_jobs: int | None) -> Results:
        lists, scores = [], []
        for q in range(len(queries)):
            found = self.of_documents(index, queries, q, field)
            lists.append(np.flatnonzero(found != 0))
            scores.append(found[lists[-1]])
        offsets = np.concatenate(([0], np.cumsum([part.size for part in lists], dtype=np.int64)))
        return best(offsets, np.concatenate([np.empty(0, np.int64), *lists]), np.concatenate([np.empty(0), *scores]), k)

    def _scores(
        self,
        index: Index,
        queries: Queries,
        offsets: np.ndarray,
        documents: np.ndarray,
        field: str | None,
        n_jobs: int | None,
    ) -> np.ndarray:
        out = np.empty(documents.size)
        for q in range(len(queries)):
            part = slice(offsets[q], offsets[q + 1])
            out[part] = self.of_documents(index, queries, q, field)[documents[part]]
        return out
