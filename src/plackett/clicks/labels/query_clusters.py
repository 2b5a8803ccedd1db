"""Similar queries: by their words and by what was clicked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.labels.random_walk import click_matrix
from plackett.clicks.log import ClickLog
from plackett.data._tables import id_series

if TYPE_CHECKING:
    import polars as pl

__all__ = ["click_bicliques", "query_clusters", "similarity_over_time"]


def _words(queries: np.ndarray) -> Any:
    """Words of each query as a sparse 0/1 matrix."""
    from scipy.sparse import csr_matrix

    known: dict[str, int] = {}
    rows, columns = [], []
    for i, query in enumerate(queries.tolist()):
        for word in set(str(query).lower().split()):
            rows.append(i)
            columns.append(known.setdefault(word, len(known)))
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(queries.size, max(len(known), 1)))


def _overlap(sets: Any, max_degree: int | None) -> Any:
    """Common members of each pair of sets, over the size of the larger; only pairs that share a member."""
    from scipy.sparse import csr_matrix

    sizes = np.diff(sets.indptr)
    used = sets
    if max_degree is not None:
        used = sets[:, np.bincount(sets.indices, minlength=sets.shape[1]) <= max_degree]
    common = csr_matrix(used @ used.T)
    row = np.repeat(np.arange(common.shape[0]), np.diff(common.indptr))
    common.data /= np.maximum(sizes[row], sizes[common.indices])
    return common


def query_similarity(log: ClickLog, *, words: float = 0.5, clicks: float = 0.5, max_degree: int | None = 1000) -> Any:
    r"""Similarity of queries, a sparse symmetric matrix with 1 on the diagonal of queries that have what is compared.

    .. math:: a\,\frac{\#\text{common words}}{\max \#\text{words}} + b\,\frac{\#\text{common clicked documents}}{\max
              \#\text{clicked documents}}

    Parameters
    ----------
    words, clicks
        a and b.
    max_degree
        Words and documents shared by more queries are not used to find similar queries.
    """
    from scipy.sparse import csr_matrix

    if words < 0 or clicks < 0 or words + clicks == 0:
        raise DataError(f"words={words}, clicks={clicks}; give two shares, not both 0")
    parts = []
    if words:
        parts.append(words * _overlap(_words(log.queries), max_degree))
    if clicks:
        clicked = click_matrix(log)
        clicked.data[:] = 1.0
        parts.append(clicks * _overlap(clicked, max_degree))
    return csr_matrix(sum(parts[1:], parts[0]))


def query_clusters(
    log: ClickLog,
    *,
    words: float = 0.5,
    clicks: float = 0.5,
    threshold: float = 0.5,
    min_queries: int = 2,
    max_degree: int | None = 1000,
) -> pl.DataFrame:
    """Clusters of queries by words and clicks (DBSCAN on `query_similarity`): query, cluster.

    Parameters
    ----------
    threshold
        Minimum similarity of neighbours.
    min_queries
        Minimum number of neighbours of a query in the core of a cluster, including itself. Queries without a cluster
        have −1.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["red shoe", "shoe red", "cat"], [["a"], ["a"], ["b"]], [[1], [1], [1]])
    >>> query_clusters(log)["cluster"].to_list()
    [0, 0, -1]

    References
    ----------
    Wen, Nie, Zhang: Query clustering using user logs. ACM TOIS 2002.
    """
    import polars as pl
    from sklearn.cluster import DBSCAN

    near = query_similarity(log, words=words, clicks=clicks, max_degree=max_degree).tocoo()
    kept = (near.data >= threshold - 1e-12) | (near.row == near.col)
    from scipy.sparse import csr_matrix

    distance = csr_matrix(
        (np.clip(1.0 - near.data[kept], 1e-9, None), (near.row[kept], near.col[kept])), shape=near.shape
    )
    labels = DBSCAN(eps=1.0 - threshold + 1e-9, min_samples=min_queries, metric="precomputed").fit_predict(distance)
    return pl.DataFrame([id_series("query", log.queries), pl.Series("cluster", labels)])


def click_bicliques(
    log: ClickLog,
    *,
    min_clicks: float = 1.0,
    min_queries: int = 2,
    min_documents: int = 2,
    max_degree: int | None = 1000,
) -> pl.DataFrame:
    """Groups of queries for which the same documents were clicked: bicliques of the click graph, the largest first.

    Every query of a group has clicks on every document of the group, and neither side can grow. The groups are those
    that two queries span: the documents that both have, and all queries that have these. A query may be in several.

    Parameters
    ----------
    min_clicks
        Pairs of query and document with fewer clicks are not edges of the graph.
    min_queries, min_documents
        Smaller groups are left out.
    max_degree
        Documents clicked for more queries are left out: they say little, and their cost is quadratic.

    Returns
    -------
    polars.DataFrame
        queries, documents (lists) and clicks, the number of clicks inside.

    Examples
    --------
    >>> pages = [["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"]]
    >>> log = ClickLog.from_arrays(["shoe", "shoes", "cat"], pages, [[1, 1, 0], [1, 1, 1], [0, 0, 1]])
    >>> click_bicliques(log).select("queries", "documents").row(0)
    (['shoe', 'shoes'], ['a', 'b'])

    References
    ----------
    Yi, Maghoul: Query clustering using click-through graph. WWW 2009.
    """
    import polars as pl
    from scipy.sparse import csr_matrix, triu

    if min_queries < 2 or min_documents < 1:
        raise DataError(f"min_queries={min_queries}, min_documents={min_documents}; give at least 2 and 1")
    counts = click_matrix(log)
    counts.data[counts.data < min_clicks] = 0.0
    counts.eliminate_zeros()
    if max_degree is not None:
        hub = np.bincount(counts.indices, minlength=counts.shape[1]) > max_degree
        counts.data[hub[counts.indices]] = 0.0
        counts.eliminate_zeros()
    graph = csr_matrix((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    common = triu(graph @ graph.T, k=1).tocoo()
    near = common.data >= min_documents
    shared = csr_matrix(graph[common.row[near]].multiply(graph[common.col[near]]))
    # equal sets of documents have equal sums of random numbers; 128 bits make an accident impossible in practice
    keys = np.random.default_rng(0).integers(0, 2**63, (2, graph.shape[1]), dtype=np.uint64)
    row = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    sums = np.zeros((shared.shape[0], 2), np.uint64)
    for side in range(2):
        np.add.at(sums[:, side], row, keys[side][shared.indices])
    _, first = np.unique(sums, axis=0, return_index=True)
    sets = shared[np.sort(first)]
    sizes = np.diff(sets.indptr)
    inside = csr_matrix(sets @ graph.T)
    inside.data = (inside.data >= sizes[np.repeat(np.arange(sizes.size), np.diff(inside.indptr))] - 0.5).astype(float)
    inside.eliminate_zeros()
    members = np.diff(inside.indptr)
    clicks = np.asarray((inside @ counts).multiply(sets).sum(axis=1)).ravel()
    kept = np.flatnonzero(members >= min_queries)
    kept = kept[np.lexsort((-clicks[kept], -(members * sizes)[kept]))]
    lists = []
    for name, ids, membership in (("queries", log.queries, inside), ("documents", log.documents, sets)):
        chosen = membership[kept]
        chosen.sort_indices()
        group = np.repeat(np.arange(kept.size), np.diff(chosen.indptr))
        table = pl.DataFrame([pl.Series("group", group), id_series(name, ids).gather(chosen.indices)])
        lists.append(table.group_by("group", maintain_order=True).agg(pl.col(name))[name])
    return pl.DataFrame([*lists, pl.Series("clicks", clicks[kept])])


def similarity_over_time(log: ClickLog, query: Any, other: Any, n_slices: int = 10, **options: Any) -> pl.DataFrame:
    """Similarity of two queries in equal slices of time: start, similarity.

    Parameters
    ----------
    n_slices
        Number of slices; with one, the result is that of `query_similarity`.
    options
        As in `query_similarity`.

    References
    ----------
    Zhao, Hoi, Liu, Wang, Lyu, Ma: Time-dependent semantic similarity measure of queries using historical click-through
    data. WWW 2006.
    """
    import polars as pl

    from plackett.clicks._codes import find_codes
    from plackett.data.grouping import ids_array

    if log.times is None:
        raise DataError("the log has no times")
    at = find_codes(ids_array([query, other], "query"), log.queries)
    if (at < 0).any():
        raise DataError(f"the log does not have the query {(query, other)[int(np.argmax(at < 0))]!r}")
    edges = np.linspace(np.nanmin(log.times), np.nanmax(log.times), n_slices + 1)
    slot = np.clip(np.searchsorted(edges, log.times, side="right") - 1, 0, n_slices - 1)
    similarities = [
        float(query_similarity(log.select((slot == i) & ~np.isnan(log.times)), **options)[at[0], at[1]])
        for i in range(n_slices)
    ]
    return pl.DataFrame({"start": edges[:-1], "similarity": similarities})
