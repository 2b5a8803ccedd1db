"""Topical link analysis as a feature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.graph.topical_hits import topical_hits
from plackett.graph.topical_pagerank import content_shares, topical_pagerank
from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.propagated import link_graph

__all__ = ["TopicalFeature"]

#: Candidates whose topics are taken for those of the query.
_FIRST = 10


@dataclass(frozen=True, kw_only=True)
class TopicalFeature(Feature):
    """Importance of a document in the topics of the query.

    The topics of a query are those of its ten best candidates by BM25.

    Parameters
    ----------
    statistic
        ``"pagerank"``, ``"authority"`` or ``"hub"``.
    topics
        A row per document of the index and a column per topic: how much it belongs to it. None: one topic, with which
        it is plain PageRank or HITS.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "topical"

    statistic: str
    topics: Any = field(default=None, hash=False, compare=False)

    def _check(self) -> None:
        choice(f"{self.key} statistic", self.statistic, ("pagerank", "authority", "hub"))

    @property
    def stream(self) -> str:
        """The link graph."""
        return "links"

    def _label(self) -> str:
        return f"topical {self.statistic}"

    def _values(self, batch: Batch) -> np.ndarray:
        graph = link_graph(batch.index)
        topics = np.ones((graph.n_nodes, 1)) if self.topics is None else self.topics
        tables = self.__dict__.setdefault("_tables", {})
        if id(graph) not in tables:
            content = content_shares(topics, graph)
            table = (
                topical_pagerank(graph, content)
                if self.statistic == "pagerank"
                else getattr(topical_hits(graph, content), self.statistic)
            )
            tables[id(graph)] = graph, content, table
        _, content, table = tables[id(graph)]
        scores = BM25().of_matches(batch.matches(None), batch.field(None), 1)
        order = np.lexsort((batch.documents, -scores, batch.query))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size) - np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
        first = rank < _FIRST
        query_topics = np.zeros((len(batch.queries), content.shape[1]))
        np.add.at(query_topics, batch.query[first], content[batch.documents[first]])
        query_topics /= np.maximum(query_topics.sum(axis=1, keepdims=True), 1e-300)
        return np.einsum("ij,ij->i", table[batch.documents], query_topics[batch.query])
