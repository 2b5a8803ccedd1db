"""Clicks smoothed over similar queries: a random walk on the graph of queries and clicked documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett.clicks.log import ClickLog
from plackett.data.frame_columns import id_series

if TYPE_CHECKING:
    import polars as pl

__all__ = ["smooth_clicks"]


def click_matrix(log: ClickLog) -> Any:
    """Clicks as a sparse matrix of queries × documents (pages on which the document was clicked)."""
    from scipy.sparse import csr_matrix

    weight = np.bincount(log.pair, log.row_weight * log.clicked, minlength=log.n_pairs)
    hit = weight > 0
    shape = log.queries.size, log.documents.size
    return csr_matrix((weight[hit], (log.pair_query[hit], log.pair_document[hit])), shape=shape)


def _row_normalised(matrix: Any) -> Any:
    from scipy.sparse import diags

    total = np.asarray(matrix.sum(axis=1)).ravel()
    return diags(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ matrix


def query_walk(clicks: Any, *, steps: int = 1, top_k: int | None = None, max_degree: int | None = None) -> Any:
    """Probability of a walk from each query over clicked documents to each other query, sparse.

    A step goes from a query to a document in proportion to clicks, and back to a query in proportion to the clicks on
    the document: :math:`(AB)^t`, with A the rows of the click matrix normalised and B those of its transpose.

    Parameters
    ----------
    steps
        Number of steps t.
    top_k
        Keep the most probable queries of each row, and normalise it again.
    max_degree
        Documents clicked for more queries are left out of the walk: they say little, and their cost is quadratic.
    """
    from scipy.sparse import csr_matrix

    whole("steps", steps, least=1)
    walked = clicks
    if max_degree is not None:
        degree = np.bincount(clicks.indices, minlength=clicks.shape[1])
        walked = clicks[:, degree <= max_degree]
    step = _row_normalised(walked) @ _row_normalised(walked.T.tocsr())
    result = step = csr_matrix(step)
    for _ in range(steps - 1):
        result = csr_matrix(result @ step)
    if top_k is not None:
        result = _row_normalised(_largest(result, top_k))
    return csr_matrix(result)


def _largest(matrix: Any, k: int) -> Any:
    """The k largest entries of each row."""
    from scipy.sparse import csr_matrix

    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, row))
    position = np.arange(order.size) - matrix.indptr[:-1][row[order]]
    kept = order[position < k]
    return csr_matrix((matrix.data[kept], (row[kept], matrix.indices[kept])), shape=matrix.shape)


def smooth_clicks(
    log: ClickLog, *, own: float = 0.7, steps: int = 1, top_k: int | None = 20, max_degree: int | None = 1000
) -> pl.DataFrame:
    r"""Clicks of each query mixed with those of similar queries: query, document, label, weight.

    .. math:: \tilde W = \omega W + (1 - \omega)\, S W

    with W the clicks and S the similarity of queries by a random walk (`query_walk`). Documents that were never clicked
    for a query, but for similar ones, get a value. Queries without clicks keep none.

    Parameters
    ----------
    own
        ω, the share of the query's own clicks.
    steps, top_k, max_degree
        As in `query_walk`.

    Returns
    -------
    polars.DataFrame
        ``label`` is the smoothed number of clicks, ``weight`` the number of clicks of the query itself on any document.

    Examples
    --------
    >>> import polars as pl
    >>> log = ClickLog.from_arrays(["shoe", "shoes"], [["a", "b"], ["a", "c"]], [[1, 1], [1, 0]])
    >>> smooth_clicks(log, own=0.5).filter(pl.col("query") == "shoes")["label"].to_list()
    [1.0, 0.25]

    References
    ----------
    Gao, Yuan, Li, Deng, Nie: Smoothing clickthrough data for web search ranking. SIGIR 2009.
    """
    import polars as pl
    from scipy.sparse import csr_matrix

    number("own", own, least=0, most=1)
    clicks = click_matrix(log)
    near = query_walk(clicks, steps=steps, top_k=top_k, max_degree=max_degree)
    mixed = clicks if own == 1 else csr_matrix(own * clicks + (1 - own) * (near @ clicks))
    mixed.sum_duplicates()
    row = np.repeat(np.arange(mixed.shape[0]), np.diff(mixed.indptr))
    total = np.asarray(clicks.sum(axis=1)).ravel()
    return pl.DataFrame(
        [
            id_series("query", log.queries).gather(row),
            id_series("document", log.documents).gather(mixed.indices),
            pl.Series("label", mixed.data),
            pl.Series("weight", total[row]),
        ]
    )
