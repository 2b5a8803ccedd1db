"""Topical PageRank: a surfer with a topic in mind, who may change it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.graph.links import LinkGraph

__all__ = ["topical_pagerank"]


def topical_pagerank(
    graph: LinkGraph,
    topics: Any,
    *,
    damping: float = 0.85,
    stay: float = 0.9,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> np.ndarray:
    r"""Topical PageRank: importance of each page in each topic.

    .. math:: A(u, i) = \alpha \sum_{v \to u} \frac{\beta A(v, i) + (1 - \beta)\, C_u(i)\, A(v)}{O(v)}
              + (1 - \alpha) \frac{C_u(i)}{N}

    The surfer follows a link and keeps his topic (probability β), or follows it and takes a topic of the new page,
    drawn from its content C. When he jumps, or has no link to follow, he takes a topic of the page that he comes to.
    Summed over topics this is PageRank.

    Parameters
    ----------
    topics
        A row per page and a column per topic, weights of 0 or more; rows are normalised, and rows of zeros are uniform.
    stay
        β, the probability of keeping the topic along a link.

    Returns
    -------
    numpy.ndarray
        A row per page and a column per topic. For a query with topic weights C_q the score is ``result @ C_q``.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (1, 0), (2, 0)])
    >>> topical_pagerank(graph, [[1, 0], [1, 1], [0, 1]]).round(3).tolist()
    [[0.31, 0.176], [0.283, 0.181], [0.0, 0.05]]

    References
    ----------
    Nie, Davison, Qi: Topical link analysis for web search. SIGIR 2006.
    """
    content = content_shares(topics, graph)
    if not 0 <= damping < 1 or not 0 <= stay <= 1:
        raise DataError(f"damping={damping}, stay={stay}; give probabilities, and a damping below 1")
    n = graph.n_nodes
    now = content / max(n, 1)
    for _ in range(max_iter):
        along = graph.follow(now)
        new = damping * (stay * along + (1.0 - stay) * along.sum(axis=1, keepdims=True) * content)
        lost = damping * now[graph.dangling].sum() + (1.0 - damping)
        new += lost / max(n, 1) * content
        moved = float(np.abs(new - now).sum())
        now = new
        if moved < tol:
            return now
    warnings.warn(
        f"topical PageRank still changed after {max_iter} steps; raise max_iter", PlackettWarning, stacklevel=2
    )
    return now


def content_shares(topics: Any, graph: LinkGraph) -> np.ndarray:
    """Rows of topic weights that sum to 1."""
    table = np.asarray(topics, np.float64)
    if table.ndim != 2 or table.shape[0] != graph.n_nodes or table.shape[1] == 0:
        raise DataError(f"topics have shape {table.shape}; give a row for each of the {graph.n_nodes} pages")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise DataError("topics: weights must be 0 or more")
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / table.shape[1])
