"""Relations between the documents of a query from URLs and from links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.graph.links import LinkGraph
from plackett.graph.urls import INDEX_PAGE, host, path_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["link_relation", "parent_relation"]


def parent_relation(data: RankingDataset, urls: Any = None) -> Relation:
    """Which document of a query is above which in a site or a tree of paths: pairs (document, parent).

    The parent is the nearest document of the same query above it: the URL without its last part, or its last two, …
    Index files count as their folder; case matters in paths, not in hosts. If two rows spell the same page differently,
    the first is the parent of the other. Every document has at most one parent, and there are no cycles.

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
    given = _texts(named, "URL")
    if len(given) != data.n_rows:
        raise DataError(f"{len(given)} URLs for {data.n_rows} documents")
    keys = _page_keys(given)
    text = np.frombuffer("".join(keys.to_list()).encode(), np.uint8)
    starts = np.concatenate(([0], np.cumsum(keys.str.len_bytes().to_numpy(), dtype=np.int64)))
    parent = np.empty(data.n_rows, np.int64)
    over_queries(_nearest_above, data.offsets, text, starts, parent)
    row = np.flatnonzero(parent >= 0)
    return Relation(row, parent[row]).regrouped(None, data.offsets)


def _texts(values: Any, what: str) -> pl.Series:
    """Any column of names as text."""
    import polars as pl

    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return pl.Series(values).cast(pl.String)
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not set(map(type, listed)) <= {str}:
        listed = [str(value) for value in listed]
    try:
        return pl.Series(listed, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise DataError(f"{what} {error.object!r} is not valid Unicode") from None


def _page_keys(urls: pl.Series) -> pl.Series:
    """Host and path of each URL in one text, without a slash at the end; index files are their folder."""
    import polars as pl

    rest = urls.str.replace(r"^(?i)[a-z][a-z0-9+.-]*://", "").str.strip_prefix("//")
    bare = rest.str.replace(r"(?s)[?#].*$", "")
    hosts = bare.str.replace(r"(?s)/.*$", "").str.replace(r"(?s)^.*@", "").str.replace(":[0-9]*$", "")
    paths = bare.str.replace("^[^/]*/?", "/").str.replace(f"(?i){INDEX_PAGE.pattern}", "/")
    keys = (hosts.str.to_lowercase() + paths).str.strip_chars_end("/")
    odd = (~urls.str.contains(r"^[!-$&-~]*$")).arg_true()  # percent codes, spaces, other alphabets
    if len(odd):
        exact = [(host(url) + INDEX_PAGE.sub("/", path_of(url))).rstrip("/") for url in urls.gather(odd).to_list()]
        keys = keys.scatter(odd, pl.Series(exact, dtype=pl.String))
    return keys


@kernel
def _nearest_above(lo, hi, offsets, text, starts, parent):
    """For each text of a query the row of the longest proper prefix before a slash, by a table of hashes; −1 if none.

    The first of equal texts stands for all of them, and is the parent of the others.
    """
    size = 4
    while size < 2 * longest(lo, hi, offsets):
        size *= 2
    table = np.empty(size, np.int64)
    hashes = np.empty(longest(offsets[lo], offsets[hi], starts) + 1, np.uint64)
    for q in range(lo, hi):
        table[:] = -1
        for i in range(offsets[q], offsets[q + 1]):
            n = starts[i + 1] - starts[i]
            _prefix_hashes(text, starts[i], n, hashes)
            slot = _slot(text, starts, table, i, n, hashes[n])
            parent[i] = table[slot]
            if table[slot] < 0:
                table[slot] = i
        for i in range(offsets[q], offsets[q + 1]):
            if parent[i] >= 0:
                continue
            n = starts[i + 1] - starts[i]
            _prefix_hashes(text, starts[i], n, hashes)
            while n > 0 and parent[i] < 0:
                n -= 1
                if text[starts[i] + n] == 47:  # a slash
                    parent[i] = table[_slot(text, starts, table, i, n, hashes[n])]


@kernel
def _prefix_hashes(text, start, n, hashes):
    """Hash of each prefix, by Fowler, Noll and Vo."""
    value = np.uint64(14695981039346656037)
    hashes[0] = value
    for p in range(n):
        value = (value ^ np.uint64(text[start + p])) * np.uint64(1099511628211)
        hashes[p + 1] = value


@kernel
def _slot(text, starts, table, i, n, value):
    """Slot of the row whose text is the first n bytes of row i, or the free slot for it."""
    mask = np.uint64(table.size - 1)
    slot = (value ^ (value >> np.uint64(32))) & mask
    while True:
        row = table[np.int64(slot)]
        if row < 0:
            return np.int64(slot)
        if starts[row + 1] - starts[row] == n:
            same = True
            for p in range(n):
                if text[starts[row] + p] != text[starts[i] + p]:
                    same = False
                    break
            if same:
                return np.int64(slot)
        slot = (slot + np.uint64(1)) & mask


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
    import polars as pl

    named = data.docids if names is None else names
    if named is None:
        raise DataError("link_relation needs the names of the documents in the graph: the dataset has no document ids")
    given = _texts(named, "document")
    if len(given) != data.n_rows:
        raise DataError(f"{len(given)} names for {data.n_rows} documents")
    known = _texts(graph.names, "node").to_frame("name").with_row_index("node").unique("name", keep="last")
    nodes = given.to_frame("name").join(known, on="name", how="left", maintain_order="left")
    node = nodes["node"].cast(pl.Int64).fill_null(-1).to_numpy()
    if data.n_rows and not (node >= 0).any():
        raise DataError(
            f"none of the documents is a node of the graph: {given[0]!r} is not, its nodes are like "
            f"{graph.names[0] if graph.names else None!r}"
        )
    links = graph.out.indptr.astype(np.int64), graph.out.indices.astype(np.int64), graph.out.data.astype(np.float64)
    count = np.zeros(data.n_rows + 1, np.int64)
    none = np.empty(0, np.int64), np.empty(0)
    over_queries(_links_within, data.offsets, node, *links, False, count[1:], count[1:], *none)
    begin = np.cumsum(count)
    source = np.repeat(np.arange(data.n_rows), count[1:])
    other, weight = np.empty(source.size, np.int64), np.empty(source.size)
    over_queries(_links_within, data.offsets, node, *links, True, count[1:], begin, other, weight)
    plain = graph.unweighted
    return Relation(source, other, None if plain else weight).regrouped(None, data.offsets)


@kernel
def _links_within(lo, hi, offsets, node, pointers, targets, strength, fill, count, begin, other, weight):
    """Count the links of each row to other rows of its query, or fill them in from ``begin``.

    ``head`` has the first row of the query that is a node, ``after`` the next one that is the same.
    """
    head = np.full(pointers.size, -1, np.int64)
    after = np.empty(max(longest(lo, hi, offsets), 1), np.int64)
    for q in range(lo, hi):
        first = offsets[q]
        for i in range(offsets[q + 1] - 1, first - 1, -1):
            if node[i] >= 0:
                after[i - first] = head[node[i]]
                head[node[i]] = i
        for i in range(first, offsets[q + 1]):
            if node[i] < 0:
                continue
            n = 0
            for p in range(pointers[node[i]], pointers[node[i] + 1]):
                row = head[targets[p]]
                while row >= 0:
                    if row != i:
                        if fill:
                            other[begin[i] + n], weight[begin[i] + n] = row, strength[p]
                        n += 1
                    row = after[row - first]
            if not fill:
                count[i] = n
        for i in range(first, offsets[q + 1]):
            if node[i] >= 0:
                head[node[i]] = -1
