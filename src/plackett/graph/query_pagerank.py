"""PageRank for one query: a surfer who looks for something."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import distribution, pagerank

__all__ = ["query_pagerank"]


def query_pagerank(graph: LinkGraph, relevance: Any, **control: Any) -> np.ndarray:
    r"""Query-dependent PageRank: the surfer prefers links to relevant pages, and jumps to relevant pages.

    With relevance :math:`R(u)` of each page to the query, he follows a link to u with a probability in proportion to
    :math:`R(u)`, and jumps to u in proportion to :math:`R(u)`. From a page without links to relevant pages he jumps.

    Parameters
    ----------
    relevance
        A number of 0 or more per page: an array, or a mapping from names.
    control
        Further arguments of `pagerank`.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (0, 2), (1, 0), (2, 0)])
    >>> query_pagerank(graph, [1.0, 3.0, 0.0], damping=0.5).round(3).tolist()
    [0.417, 0.583, 0.0]

    References
    ----------
    Richardson, Domingos: The intelligent surfer: probabilistic combination of link and content information in PageRank.
    NIPS 2001.
    """
    preference = distribution(relevance, graph, "relevance")
    biased = graph.reweighted(graph.out.data * preference[graph.out.indices])
    return pagerank(biased, teleport=preference, dangling="teleport", **control)
