"""Clusters of queries that are fitted by the same ranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.losses.pairwise.logistic import Logistic
from plackett.rankers.base import Ranker
from plackett.rankers.blend import spread_within_lists
from plackett.rankers.query_dependent._base import ClusterRankers
from plackett.rankers.query_dependent._gate import fit_softmax, k_means
from plackett.scorers.routers import SoftmaxRouter
from plackett.solvers.monitor import Monitor

__all__ = ["ModelClusters"]


@dataclass(kw_only=True, eq=False, repr=False)
class ModelClusters(ClusterRankers):
    """Several rankers, each trained on the queries that it fits best.

    Queries with similar features do not always need similar rankers. So the clusters are found by the rankers
    themselves, in turns: each training query is assigned to the ranker with the smallest loss on it, and each ranker is
    trained again on its queries. The loss of a query is the mean logistic loss of its pairs, with the scores of each
    ranker scaled to spread 1 within lists. The total loss never rises: a turn that would raise it is rejected. For new
    queries, a multinomial logistic regression predicts the cluster from the query features z. With one cluster it is
    the base ranker.

    Parameters
    ----------
    n_clusters
        Number of rankers.
    n_sweeps
        Maximum number of turns.
    routing
        ``"hard"`` uses the ranker of the most probable cluster, ``"soft"`` mixes the scores.
    gate_penalty
        Strength of the squared penalty of the classifier.

    Attributes
    ----------
    losses_
        Total loss after each turn.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = ModelClusters(base="LinearRegression").fit(data)
    >>> bool((ranker.losses_[1:] <= ranker.losses_[:-1]).all())
    True

    References
    ----------
    Jacobs, Jordan, Nowlan, Hinton: Adaptive mixtures of local experts. Neural Computation 1991.
    Liu: Learning to rank for information retrieval. Springer 2011, section 7.3.
    """

    search_space: ClassVar[SearchSpace] = {"n_clusters": (2, 3, 4)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression", "n_sweeps": 3}
    # clusters begin with a draw of queries, where weights are not copies; an interrupt ends a member; preferences
    # decide on the clusters, whatever the base ranker learns from
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt", "query_weight", "preferences")

    n_clusters: int = 2
    n_sweeps: int = 10
    routing: str = "hard"
    gate_penalty: float = 0.01

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_local()
        if self.n_clusters < 1 or self.n_sweeps < 0:
            raise DataError(f"n_clusters={self.n_clusters}, n_sweeps={self.n_sweeps}; give 1 or more, 0 or more")
        choice("routing", self.routing, ("hard", "soft"))
        query_map = self._query_map(data)
        z = query_map(data.X, data.offsets, data.query_features)
        weight = given_or_ones(data.query_weight, data.n_queries)
        overall = self._trained(data, monitor.valid)
        number = k_means(z, min(self.n_clusters, data.n_queries), weight, self.random_state)
        experts = self._experts(number, data, monitor, overall)
        table = self._table(experts, data)
        number, losses = table.argmin(axis=1), [float(table.min(axis=1).sum())]
        for _ in range(self.n_sweeps if len(experts) > 1 else 0):
            new = self._experts(number, data, monitor, overall)
            table = self._table(new, data)
            total = float(table.min(axis=1).sum())
            if len(new) < 2 or total >= losses[-1] * (1.0 - 1e-9):
                break
            experts, number = new, table.argmin(axis=1)
            losses.append(total)
        self.losses_ = np.array(losses)
        self._note_clusters(data, number)
        members = [overall, *experts] if len(experts) > 1 else [overall]
        if monitor.valid is None:
            monitor.update()
        weights, intercept = fit_softmax(z, np.eye(len(experts))[number], weight, self.gate_penalty)
        router = SoftmaxRouter(
            weights, intercept, np.arange(1, len(experts) + 1), self.routing == "hard", len(experts) + 1
        )
        self._settle(members, query_map, router, data, monitor)

    def _experts(self, number: np.ndarray, data: RankingDataset, monitor: Monitor, like: Ranker) -> list[Ranker]:
        parts = [np.flatnonzero(number == c) for c in np.unique(number)]
        if len(parts) == 1:
            return [like]
        large = [part for part in parts if part.size >= self.min_queries]
        return [self._local_ranker(data.select(part), monitor.valid, like) for part in large] or [like]

    @staticmethod
    def _table(experts: list[Ranker], data: RankingDataset) -> np.ndarray:
        """Loss of each query under each ranker."""
        bound = Logistic(normalize=True).bind(data)
        columns = []
        for expert in experts:
            scores = expert.score_rows(data)
            columns.append(bound.evaluate(bound.check(scores / spread_within_lists(scores, data)))[0])
        return np.stack(columns, axis=1)
