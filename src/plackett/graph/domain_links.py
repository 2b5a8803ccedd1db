"""Different weights for links inside a site and between sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.graph.blockrank import grouped
from plackett.graph.links import LinkGraph

__all__ = ["domain_links"]


def domain_links(graph: LinkGraph, hosts: Any, *, inside: float = 0.2, across: float = 1.0) -> LinkGraph:
    """The graph with links inside a host and between hosts weighted differently: votes for oneself count less.

    Parameters
    ----------
    hosts
        Host of each page.
    inside, across
        Factors of the two kinds of links; with 0 they are removed.

    References
    ----------
    Bharat, Mihaila: When experts agree: using non-affiliated experts to rank popular topics. WWW 2001.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (0, 2)])
    >>> domain_links(graph, ["a", "a", "b"]).out.toarray()[0].tolist()
    [0.0, 0.2, 1.0]
    """
    if not (inside >= 0 and across >= 0):
        raise DataError(f"inside={inside}, across={across}; give factors of 0 or more")
    member, _ = grouped(hosts, graph.n_nodes)
    rows = np.repeat(member, np.diff(graph.out.indptr))
    return graph.reweighted(graph.out.data * np.where(rows == member[graph.out.indices], inside, across))
