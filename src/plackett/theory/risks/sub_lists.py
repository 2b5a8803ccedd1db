"""Lists of k documents of each query: all of them, or some drawn at random."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["sub_lists"]

#: Largest total number of lists if all of them are taken.
_MOST = 5_000_000


def sub_lists(
    data: RankingDataset, size: int, n_lists: int | None = None, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the lists of ``size`` judged documents of each query, and the number of the query of each list.

    With the whole of a query as its list the two-layer framework has nothing to average over inside a query; sets of
    k documents are associates of which each query has many. A query with fewer judged documents has no list.

    Parameters
    ----------
    n_lists
        How many lists to draw from each query, with replacement; None takes every one.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0])
    >>> sub_lists(data, 2)[0].tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    number("size", size, least=1)
    if n_lists is not None:
        number("n_lists", n_lists, least=1)
    rows = np.flatnonzero(data.labels >= 0)
    count = np.bincount(data.query_of_row[rows], minlength=data.n_queries)
    first = np.concatenate(([0], np.cumsum(count)))
    if n_lists is None:
        total = sum(comb(int(m), size) for m in count)
        if total > _MOST:
            raise DataError(f"there are {total:,} lists of {size} documents; give n_lists to draw some")
    rng = np.random.default_rng(random_state)
    taken, queries = [], []
    for m in np.unique(count[count >= size]):  # queries of one length together
        of_length = np.flatnonzero(count == m)
        if n_lists is None:
            subsets = np.array(list(combinations(range(m), size)))
            picked = np.broadcast_to(subsets, (of_length.size, *subsets.shape))
        else:
            picked = rng.random((of_length.size, n_lists, m)).argpartition(size - 1, axis=2)[:, :, :size]
        taken.append(rows[first[of_length][:, None, None] + picked].reshape(-1, size))
        queries.append(np.repeat(of_length, picked.shape[1]))
    if not taken:
        return np.empty((0, size), np.int64), np.empty(0, np.int64)
    return np.concatenate(taken), np.concatenate(queries)
