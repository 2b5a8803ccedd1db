"""Topic-sensitive PageRank: one ranking per topic, mixed by the topics of the query."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import pagerank

__all__ = ["topic_pagerank"]


def topic_pagerank(graph: LinkGraph, topics: Any, query: Any = None, **control: Any) -> np.ndarray:
    r"""Topic-sensitive PageRank: a vector per topic, or their mixture for a query.

    .. math:: s_q(u) = \sum_j P(j \mid q)\, x_j(u)

    :math:`x_j` is personalised PageRank with teleports to the pages of topic j.

    Parameters
    ----------
    topics
        A row per page and a column per topic: how much the page belongs to it.
    query
        Weights of the topics for a query; they are normalised. Without them, the vectors themselves.
    control
        Further arguments of `pagerank`.

    Returns
    -------
    numpy.ndarray
        A row per page and a column per topic; with ``query`` a number per page.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (1, 0), (2, 0)])
    >>> topic_pagerank(graph, [[1, 0], [0, 0], [0, 1]], query=[1, 0]).round(3).tolist()
    [0.541, 0.459, 0.0]

    References
    ----------
    Haveliwala: Topic-sensitive PageRank. WWW 2002.
    """
    table = np.asarray(topics, np.float64)
    if table.ndim != 2 or table.shape[0] != graph.n_nodes:
        raise DataError(f"topics have shape {table.shape}; give a row for each of the {graph.n_nodes} pages")
    vectors = np.column_stack([pagerank(graph, teleport=column, **control) for column in table.T])
    if query is None:
        return vectors
    weights = np.asarray(query, np.float64)
    if weights.shape != (table.shape[1],) or not (weights >= 0).all() or weights.sum() <= 0:
        raise DataError(f"query: give a weight of 0 or more for each of the {table.shape[1]} topics")
    return vectors @ (weights / weights.sum())
