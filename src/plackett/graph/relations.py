"""Relations between the documents of a query from URLs and from links."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.graph.links import LinkGraph
from plackett.graph.urls import _INDEX, host, path_of

__all__ = ["link_relation", "parent_relation"]
__public__ = ["link_relation", "parent_relation"]


@fulfils("relational.relations")
def parent_relation(data: RankingDataset, urls: Any = None) -> Relation:
    """Which document of a query is above which in a site or a tree of paths: pairs (document, parent).

    The parent is the nearest document of the same query above it: the URL without its last part, or its last two, …
    Index files count as their folder; case matters in paths, not in hosts. Of two spellings of one page the first row
    is the parent of the other. Every document has one parent at most, and there are no circles.

    Parameters
    ----------
    urls
        URL or path of each row, in the grouped order of the dataset; None uses the document ids.

    Examples
    --------
    >>> urls = ["a.org/b/", "a.org/b/c.html", "a.org/x.html", "a.org/"]
    >>> data = RankingDataset.from_arrays(None, None, qid=[1, 1, 1, 1], docids=urls)
    >>> parent_relation(data).to_pairs().tolist()
    [[0, 3], [1, 0], [2, 3]]
    """
    named = data.docids if urls is None else urls
    if named is None:
        raise DataError("parent_relation needs URLs: the dataset has no document ids")
    given = [str(url) for url in named]
    if len(given) != data.n_rows:
        raise DataError(f"{len(given)} URLs for {data.n_rows} documents")
    keys = [(host(url) + _INDEX.sub("/", path_of(url))).rstrip("/") for url in given]
    query = data.query_of_row.tolist()
    number: dict[tuple[int, str], int] = {}
    for i, key in enumerate(keys):
        number.setdefault((query[i], key), i)
    row, parent = [], []
    for i, above in enumerate(keys):
        nearest = number[query[i], above] if number[query[i], above] != i else -1
        while nearest == -1 and "/" in above:
            above = above.rpartition("/")[0]
            nearest = number.get((query[i], above), -1)
        if nearest >= 0:
            row.append(i)
            parent.append(nearest)
    return Relation(np.array(row, np.int64), np.array(parent, np.int64)).regrouped(None, data.offsets)


@fulfils("relational.relations")
def link_relation(data: RankingDataset, graph: LinkGraph, names: Any = None) -> Relation:
    """The links of a graph between documents of the same query: pairs (source, target) with the weights of the links.

    Documents that the graph does not know have no links. A page's link to itself is left out.

    Parameters
    ----------
    names
        Name in the graph of each row, in the grouped order of the dataset; None uses the document ids.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> data = RankingDataset.from_arrays(None, None, qid=[1, 1, 2], docids=["a", "b", "c"])
    >>> link_relation(data, graph).to_pairs().tolist()
    [[0, 1]]
    """
    named = data.docids if names is None else names
    if named is None:
        raise DataError("link_relation needs the names of the documents in the graph: the dataset has no document ids")
    given = list(named)
    if len(given) != data.n_rows:
        raise DataError(f"{len(given)} names for {data.n_rows} documents")
    known = {str(name): number for number, name in enumerate(graph.names)}
    node = np.array([known.get(str(name), -1) for name in given], np.int64)
    if data.n_rows and not (node >= 0).any():
        raise DataError(f"none of the documents is a node of the graph: {given[0]!r} is not, its nodes are like "
                        f"{graph.names[0] if graph.names else None!r}")  # fmt: skip
    # every link of a row's node, then the rows of its query that are the target: one join over (query, node)
    rows = np.flatnonzero(node >= 0)
    begin, end = graph.out.indptr[node[rows]].astype(np.int64), graph.out.indptr[node[rows] + 1].astype(np.int64)
    count = end - begin
    source = np.repeat(rows, count)
    entry = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
    target, weight = graph.out.indices[entry].astype(np.int64), graph.out.data[entry]
    n_nodes = max(graph.n_nodes, 1)
    key = data.query_of_row[rows] * n_nodes + node[rows]
    order = np.argsort(key, kind="stable")
    wanted = data.query_of_row[source] * n_nodes + target
    low, high = (np.searchsorted(key[order], wanted, side=side) for side in ("left", "right"))
    times = high - low  # a document may be in a list more than once
    hit = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times) + np.repeat(low, times)
    source, other, weight = np.repeat(source, times), rows[order][hit], np.repeat(weight, times)
    kept = source != other
    plain = graph.unweighted
    return Relation(source[kept], other[kept], None if plain else weight[kept].astype(np.float64)).regrouped(
        None, data.offsets
    )
