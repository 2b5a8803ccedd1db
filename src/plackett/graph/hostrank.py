"""HostRank: importance of hosts, shared among their pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.graph.blockrank import grouped
from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import pagerank

__all__ = ["host_graph", "hostrank"]


def hostrank(graph: LinkGraph, hosts: Any, *, depth: Any = None, decay: float = 0.5, **control: Any) -> np.ndarray:
    r"""HostRank: PageRank of the graph of hosts, handed down to pages.

    The weight of a link between hosts is the number of page links between them; links inside a host do not count. The
    rank of a host is divided among its pages in proportion to their weights:

    .. math:: (1 + \text{in-links}) \cdot \gamma^{\text{depth}}

    Parameters
    ----------
    hosts
        Host, directory or domain of each page.
    depth
        Depth of each page below its host's root (`plackett.graph.url_depth`); by default all equal.
    decay
        γ, the factor for each level of depth.
    control
        Further arguments of `pagerank`.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 2), (1, 2), (2, 0), (2, 3)], names=range(4))
    >>> hostrank(graph, ["a", "a", "b", "b"]).round(3).tolist()
    [0.333, 0.167, 0.3, 0.2]

    References
    ----------
    Xue, Yang, Zeng, Yu, Chen: Exploiting the hierarchical structure for link analysis. SIGIR 2005.
    """
    member, n_hosts = grouped(hosts, graph.n_nodes)
    rank = pagerank(host_graph(graph, hosts), **control)
    weight = 1.0 + np.diff(graph.into.indptr)
    if depth is not None:
        weight = weight * decay ** np.asarray(depth, np.float64)
    return rank[member] * weight / np.bincount(member, weight, n_hosts)[member]


def host_graph(graph: LinkGraph, hosts: Any) -> LinkGraph:
    """The graph of hosts: links between different hosts, weighted by how many page links there are.

    References
    ----------
    Xue, Yang, Zeng, Yu, Chen: Exploiting the hierarchical structure for link analysis. SIGIR 2005.
    """
    import scipy.sparse as sp

    names = list(hosts)
    member, n_hosts = grouped(names, graph.n_nodes)
    rows = np.repeat(member, np.diff(graph.out.indptr))
    columns = member[graph.out.indices]
    across = rows != columns
    matrix = sp.coo_array((graph.out.data[across], (rows[across], columns[across])), (n_hosts, n_hosts))
    return LinkGraph(matrix.tocsr(), dict.fromkeys(names))
