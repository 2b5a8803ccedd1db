"""Counts of links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett.graph.links import LinkGraph

__all__ = ["link_counts"]


class LinkCounts(NamedTuple):
    """How many pages link to a page, and to how many it links."""

    inlinks: np.ndarray
    outlinks: np.ndarray


def link_counts(graph: LinkGraph) -> LinkCounts:
    """Number of different pages that link to each page, and that it links to.

    >>> link_counts(LinkGraph.from_edges([(0, 1), (0, 1), (2, 1)])).inlinks.tolist()
    [0, 2, 0]
    """
    return LinkCounts(np.diff(graph.into.indptr), np.diff(graph.out.indptr))
