"""Labels that say nothing about the order beyond rank k."""

from __future__ import annotations

import numpy as np

from plackett._base.arguments import number
from plackett.data.dataset import RankingDataset

__all__ = ["top_k_labels"]


def top_k_labels(data: RankingDataset, k: int, gap: float = 1.0) -> RankingDataset:
    """The dataset with one common label for all judged documents beyond the first k of each query.

    ListNet on these labels is top-k order sensitive: its target keeps the order of the first k documents and is blind
    to the rest. The common label is ``gap`` below the k-th largest label; labels are moved up where it would be below
    0. Documents that tie with the k-th keep their label.

    >>> data = RankingDataset.from_arrays(None, [3, 1, 4, 2, 0])
    >>> top_k_labels(data, 2).y.tolist()
    [3.0, 2.0, 4.0, 2.0, 2.0]

    References
    ----------
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    """
    number("k", k, least=1)
    number("gap", gap, above=0.0)
    y = data.labels
    order = np.lexsort((-y, data.query_of_row))
    rank = np.arange(y.size) - data.offsets[:-1][data.query_of_row]
    kth = np.full(data.n_queries, -np.inf)  # a query with no more than k documents keeps its labels
    at = order[rank == k - 1]
    kth[data.query_of_row[at]] = y[at]
    common = kth - gap
    limit = kth[data.query_of_row]
    out = np.where((y >= 0) & (y < limit), common[data.query_of_row], y)
    judged = y >= 0
    lowest = np.full(data.n_queries, np.inf)
    np.minimum.at(lowest, data.query_of_row[judged], out[judged])
    lift = np.maximum(0.0, -np.where(np.isfinite(lowest), lowest, 0.0))[data.query_of_row]
    return data.replace(y=np.where(judged, out + lift, y))
