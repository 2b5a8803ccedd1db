"""k nearest neighbours, with the ranker of the nearest training query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.query_dependent._base import LocalRankers
from plackett.scorers.routers import NearestRouter, Router, nearest
from plackett.solvers.monitor import Monitor

__all__ = ["KNNOffline2"]


@dataclass(kw_only=True, eq=False, repr=False)
class KNNOffline2(LocalRankers):
    """A ranker for the neighbourhood of each training query; a new query uses that of its nearest training query.

    For each training query, a ranker is trained on its k nearest training queries (including itself), by Euclidean
    distance of the query features. Equal sets of neighbours share one ranker. Prediction only has to find the nearest
    training query, so it is the fastest of the three methods of the paper. For stable rankers, which change little with
    a few training queries, it is close to `KNNOnline`.

    Parameters
    ----------
    k
        Number of neighbours: a number, or the share of the training queries if it is below 1. With all queries it is
        the base ranker.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = KNNOffline2(base="LinearRegression", k=10, query_features=[4]).fit(data)
    >>> len(ranker.members_) <= 31
    True

    References
    ----------
    Geng, Liu, Qin, Arnold, Li, Shum: Query dependent ranking using k-nearest neighbor. SIGIR 2008.
    """

    search_space: ClassVar[SearchSpace] = {"k": (0.1, 0.25, 0.5)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression", "k": 0.75}

    k: float = 0.3

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_local()
        k = n_neighbours(self.k, data.n_queries)
        query_map = self._query_map(data)
        points = query_map(data.X, data.offsets, data.query_features)
        near = nearest(points, points, k)
        members, member = self._local(list(near), data, monitor)
        self._settle(members, query_map, self._router(points, member, near), data, monitor)

    def _router(self, points: np.ndarray, member: np.ndarray, near: np.ndarray) -> Router:
        return NearestRouter(points, member)


def n_neighbours(k: float, n_queries: int) -> int:
    """Number of neighbours, from a number or a share."""
    if isinstance(k, bool) or not isinstance(k, (int, float, np.integer, np.floating)) or not 0 < k < np.inf:
        raise DataError(f"k={k!r}; give a number of queries, or a share of them below 1")
    return min(n_queries, max(1, round(k * n_queries) if k < 1 else int(k)))
