"""k nearest neighbours, with the ranker of the training query whose neighbours are most alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett.rankers.query_dependent.knn_offline2 import KNNOffline2
from plackett.scorers.routers import OverlapRouter, Router

__all__ = ["KNNOffline1"]


@dataclass(kw_only=True, eq=False, repr=False)
class KNNOffline1(KNNOffline2):
    r"""A ranker for the neighbourhood of each training query; a new query uses the one that shares most neighbours.

    Training is that of `KNNOffline2`. To rank a query q, its k nearest training queries :math:`N_k(q)` are found, and
    the ranker of the training query i with the largest overlap :math:`|N_k(q) \cap N_k(q_i)|` is used; ties go to the
    nearest. Overlaps are counted by an inverted list of neighbours, not by comparing with every training query.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = KNNOffline1(base="LinearRegression", k=10, query_features=[4]).fit(data)
    >>> len(ranker.members_) <= 31
    True

    References
    ----------
    Geng, Liu, Qin, Arnold, Li, Shum: Query dependent ranking using k-nearest neighbor. SIGIR 2008.
    """

    def _router(self, points: np.ndarray, member: np.ndarray, near: np.ndarray) -> Router:
        return OverlapRouter(points, member, near)
