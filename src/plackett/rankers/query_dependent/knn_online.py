"""k nearest neighbours, with a ranker trained for each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.arguments import whole
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.training_part import training_part
from plackett.rankers.query_dependent._base import QueryDependent
from plackett.rankers.query_dependent.knn_offline2 import n_neighbours
from plackett.scorers.knn_online import KNNOnlineScorer
from plackett.solvers.monitor import Monitor

__all__ = ["KNNOnline"]


@dataclass(kw_only=True, eq=False, repr=False)
class KNNOnline(QueryDependent):
    """A ranker trained for each query at prediction time, on its k nearest training queries.

    The reference of the three methods of the paper, and the slowest: each query costs one training. Rankers are cached,
    so queries with the same neighbours share one. The model file contains the training data. `KNNOffline1` and
    `KNNOffline2` train beforehand.

    Parameters
    ----------
    k
        Number of neighbours: a number, or the share of the training queries if it is below 1. With all queries it is
        the base ranker.
    max_models
        Number of trained rankers to keep in memory; the least recently used ones are dropped.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = KNNOnline(base="LinearRegression", k=10, query_features=[4]).fit(data)
    >>> ranker.predict(data.select([3])).shape
    (8,)

    References
    ----------
    Geng, Liu, Qin, Arnold, Li, Shum: Query dependent ranking using k-nearest neighbor. SIGIR 2008.
    """

    search_space: ClassVar[SearchSpace] = {"k": (0.1, 0.25, 0.5)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression", "k": 0.75}

    k: float = 0.3
    max_models: int = 1000

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole("max_models", self.max_models, least=1)
        k = n_neighbours(self.k, data.n_queries)
        query_map = self._query_map(data)
        points = query_map(data.X, data.offsets, data.query_features)
        base = self._member()
        base.early_stopping_rounds = base.calibration = None  # no validation data when a query is asked
        self.scorer_ = KNNOnlineScorer(base, training_part(data), query_map, points, k, self.max_models)
        self._trained(data.select([0]), None)  # report bad parameters of the base ranker now, not at the first query
        monitor.judge(self.score_rows)
