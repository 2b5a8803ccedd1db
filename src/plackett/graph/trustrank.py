"""TrustRank: importance that flows from pages known to be good."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import pagerank

__all__ = ["trust_seeds", "trustrank"]


def trustrank(graph: LinkGraph, seeds: Iterable[Any], **control: Any) -> np.ndarray:
    """TrustRank: PageRank with teleports to trusted pages only.

    A page that cannot be reached from the seeds has trust 0, however many pages link to it. With all pages as seeds it
    is PageRank.

    Parameters
    ----------
    seeds
        Names of the trusted pages. `trust_seeds` proposes which pages to look at.
    control
        Further arguments of `pagerank`.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([("good", "page"), ("farm", "spam"), ("farm2", "spam")])
    >>> dict(zip(graph.names, trustrank(graph, ["good"]).round(3).tolist()))
    {'good': 0.541, 'page': 0.459, 'farm': 0.0, 'spam': 0.0, 'farm2': 0.0}

    References
    ----------
    Gyöngyi, Garcia-Molina, Pedersen: Combating web spam with TrustRank. VLDB 2004.
    """
    chosen = dict.fromkeys(seeds, 1.0)
    if not chosen:
        raise DataError("no seeds; name at least one trusted page")
    return pagerank(graph, teleport=chosen, dangling="teleport", **control)


def trust_seeds(graph: LinkGraph, k: int, **control: Any) -> list[Any]:
    """The k pages from which most of the graph is reached: the first by PageRank of the reversed graph.

    References
    ----------
    Gyöngyi, Garcia-Molina, Pedersen: Combating web spam with TrustRank. VLDB 2004.

    Examples
    --------
    >>> trust_seeds(LinkGraph.from_edges([("hub", "a"), ("hub", "b"), ("a", "c")]), 1)
    ['hub']
    """
    score = pagerank(graph.reverse(), **control)
    return [graph.names[i] for i in np.argsort(-score, kind="stable")[:k]]
