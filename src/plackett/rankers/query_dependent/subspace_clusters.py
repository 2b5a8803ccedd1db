"""Clusters of queries whose documents spread in the same directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.rankers.query_dependent._base import ClusterRankers
from plackett.scorers.routers import SubspaceRouter
from plackett.scorers.subspaces import directions, similarities
from plackett.solvers.monitor import Monitor

__all__ = ["SubspaceClusters"]


@dataclass(kw_only=True, eq=False, repr=False)
class SubspaceClusters(ClusterRankers):
    r"""A ranker for each cluster of queries, where queries are alike if their documents spread in the same directions.

    Two queries are compared by the principal directions :math:`u_1, …, u_P` of their centred documents,

    .. math:: \mathrm{sim}(q, q') = \frac1P \sum_p | u_p^\top u'_p |,

    and clustered by complete linkage. A new query uses the cluster of the most similar training query. With one cluster
    it is the base ranker. Needs no query features.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    n_components
        Number P of directions; lists with fewer are compared by those that both lists have.
    query_features, reference, top
        Not used.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = SubspaceClusters(base="LinearRegression", n_clusters=3).fit(data)
    >>> len(ranker.members_)
    4

    References
    ----------
    Banerjee, Dubey, Machchhar, Chakrabarti: Efficient and accurate local learning for ranking. SIGIR Workshop 2009.
    """

    search_space: ClassVar[SearchSpace] = {"n_clusters": (2, 4, 8), "n_components": (1, 2, 4)}

    n_clusters: int = 2
    n_components: int = 2

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        self._check_local()
        if self.n_clusters < 1 or self.n_components < 1:
            raise DataError(f"n_clusters={self.n_clusters}, n_components={self.n_components}; give 1 or more of each")
        spread = np.nanstd(np.asarray(dense(data.X), np.float64), axis=0)
        scale = np.where(spread > 0.0, spread, 1.0)
        own = directions(data.X, data.offsets, min(self.n_components, data.n_features), scale)
        number = np.zeros(data.n_queries, np.int64)
        if self.n_clusters > 1 and data.n_queries > 1:
            far = 1.0 - np.round(similarities(own, own), 12)
            np.fill_diagonal(far, 0.0)
            tree = linkage(squareform((far + far.T) / 2.0, checks=False), "complete")
            cluster_numbers = fcluster(tree, self.n_clusters, "maxclust")
            number = np.unique(cluster_numbers, return_inverse=True)[1].ravel().astype(np.int64)
        self._note_clusters(data, number)
        parts = [np.flatnonzero(number == c) for c in range(number.max() + 1)]
        members, member = self._local(parts, data, monitor)
        self._settle(members, None, SubspaceRouter(own, member[number], scale), data, monitor)
