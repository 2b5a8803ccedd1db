"""HITS: hubs and authorities."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import PlackettWarning
from plackett.graph.links import LinkGraph

__all__ = ["base_set", "hits"]


class HubsAndAuthorities(NamedTuple):
    """Scores per node; each sums to 1."""

    authority: np.ndarray
    hub: np.ndarray


def hits(
    graph: LinkGraph, *, tol: float = 1e-10, max_iter: int = 1000, n_jobs: int | None = None
) -> HubsAndAuthorities:
    r"""Hubs and authorities: a good hub links to good authorities, which good hubs link to.

    .. math:: a \propto W^\top h, \qquad h \propto W a

    The leading singular vectors of the link matrix, scaled to sum 1. Kleinberg runs it on the neighbourhood of a
    query's results: ``hits(graph.subgraph(base_set(graph, results)))``. A graph without links gives zeros.

    Examples
    --------
    >>> result = hits(LinkGraph.from_edges([(0, 2), (0, 3), (1, 2)], names=range(4)))
    >>> result.authority.round(3).tolist(), result.hub.round(3).tolist()
    ([0.0, 0.0, 0.618, 0.382], [0.618, 0.382, 0.0, 0.0])

    References
    ----------
    Kleinberg: Authoritative sources in a hyperlinked environment. Journal of the ACM 46(5), 1999.
    """
    n = graph.n_nodes
    authority, hub = np.zeros(n), np.full(n, 1.0 / max(n, 1))
    for _ in range(max_iter):
        authority = _scaled(graph.collect(hub, n_jobs))
        new = _scaled(graph.collect_out(authority, n_jobs))
        moved = float(np.abs(new - hub).sum())
        hub = new
        if moved < tol:
            return HubsAndAuthorities(authority, hub)
    warnings.warn(f"HITS still changed after {max_iter} steps; raise max_iter", PlackettWarning, stacklevel=2)
    return HubsAndAuthorities(authority, hub)


def base_set(graph: LinkGraph, results: Any, *, most_in: int = 50) -> np.ndarray:
    """Numbers of the pages around a query's results: the results, the pages they link to, and those that link to them.

    Of the pages that link to a result, at most ``most_in`` are taken.

    References
    ----------
    Kleinberg: Authoritative sources in a hyperlinked environment. Journal of the ACM 46(5), 1999.
    """
    roots = np.unique(np.asarray(results, np.int64))
    parts = [roots]
    for i in roots:
        parts.append(graph.out.indices[graph.out.indptr[i] : graph.out.indptr[i + 1]])
        parts.append(graph.into.indices[graph.into.indptr[i] : graph.into.indptr[i + 1]][:most_in])
    return np.unique(np.concatenate(parts))


def _scaled(values: np.ndarray) -> np.ndarray:
    total = values.sum()
    return values / total if total > 0 else values
