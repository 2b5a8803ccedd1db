"""Everything that links and URLs say about pages, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plackett.graph.counts import link_counts
from plackett.graph.hits import hits
from plackett.graph.hostrank import hostrank
from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import pagerank
from plackett.graph.sitemap import SiteMap
from plackett.graph.trustrank import trustrank
from plackett.graph.urls import host, url_depth, url_length, url_type

__all__ = ["link_table"]


def link_table(
    graph: LinkGraph,
    *,
    damping: float = 0.85,
    teleport: Any = None,
    seeds: Iterable[Any] | None = None,
    urls: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Any:
    """A polars frame with a row per page: counts of links, PageRank, HITS, and optionally trust and URL features.

    Parameters
    ----------
    damping, teleport
        Of PageRank.
    seeds
        Names of trusted pages: adds TrustRank.
    urls
        URL of each page: adds HostRank, depth, length and type of the URL, and number of child pages.

    Examples
    --------
    >>> link_table(LinkGraph.from_edges([("a", "b"), ("b", "a"), ("c", "a")])).columns
    ['docid', 'inlinks', 'outlinks', 'pagerank', 'authority', 'hub']
    """
    import polars as pl

    counts, scores = link_counts(graph), hits(graph, n_jobs=n_jobs)
    columns: dict[str, Any] = {
        "docid": [str(name) for name in graph.names],
        "inlinks": counts.inlinks,
        "outlinks": counts.outlinks,
        "pagerank": pagerank(graph, damping=damping, teleport=teleport, n_jobs=n_jobs),
        "authority": scores.authority,
        "hub": scores.hub,
    }
    if seeds is not None:
        columns["trustrank"] = trustrank(graph, seeds, damping=damping, n_jobs=n_jobs)
    if urls is not None:
        addresses = list(urls)
        columns["hostrank"] = hostrank(graph, [host(url) for url in addresses], depth=url_depth(addresses))
        columns["url_depth"] = url_depth(addresses)
        columns["url_length"] = url_length(addresses)
        columns["url_type"] = url_type(addresses)
        columns["children"] = SiteMap.from_urls(addresses).n_children
    return pl.DataFrame(columns)
