"""Topical HITS: hubs and authorities per topic."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import PlackettWarning
from plackett.graph.hits import HubsAndAuthorities
from plackett.graph.links import LinkGraph
from plackett.graph.topical_pagerank import content_shares

__all__ = ["topical_hits"]


def topical_hits(
    graph: LinkGraph, topics: Any, *, stay: float = 0.9, tol: float = 1e-10, max_iter: int = 1000
) -> HubsAndAuthorities:
    r"""Hubs and authorities in each topic: scores that carry a topic along links.

    .. math:: A(u, i) \propto \sum_{v \to u} \beta H(v, i) + (1 - \beta)\, C_u(i)\, H(v), \qquad
              H(v, i) \propto \sum_{v \to u} \beta A(u, i) + (1 - \beta)\, C_v(i)\, A(u)

    Summed over topics this is HITS. Each table sums to 1.

    Parameters
    ----------
    topics
        A row per page and a column per topic, as for `topical_pagerank`.
    stay
        β, the share of a score that keeps its topic along a link.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 2), (0, 3), (1, 2)], names=range(4))
    >>> topical_hits(graph, [[1, 0], [0, 1], [1, 1], [1, 0]], stay=0.5).authority.round(3).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.351, 0.267], [0.354, 0.028]]

    References
    ----------
    Nie, Davison, Qi: Topical link analysis for web search. SIGIR 2006.
    """
    content = content_shares(topics, graph)
    number("stay", stay, least=0, most=1)
    authority, hub = np.zeros_like(content), content / max(graph.n_nodes, 1)
    for _ in range(max_iter):
        authority = _step(graph.collect(hub), content, stay)
        new = _step(graph.collect_out(authority), content, stay)
        moved = float(np.abs(new - hub).sum())
        hub = new
        if moved < tol:
            return HubsAndAuthorities(authority, hub)
    warnings.warn(f"topical HITS still changed after {max_iter} steps; raise max_iter", PlackettWarning, stacklevel=2)
    return HubsAndAuthorities(authority, hub)


def _step(along: np.ndarray, content: np.ndarray, stay: float) -> np.ndarray:
    new = stay * along + (1.0 - stay) * along.sum(axis=1, keepdims=True) * content
    total = new.sum()
    return new / total if total > 0 else new
