"""One ranker for each class of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.ids import distinct
from plackett.data.weights import given_or_ones
from plackett.rankers.query_dependent._base import LocalRankers
from plackett.rankers.query_dependent._gate import fit_softmax, k_means
from plackett.scorers.routers import SoftmaxRouter
from plackett.solvers.monitor import Monitor

__all__ = ["ClassRankers"]


@dataclass(kw_only=True, eq=False, repr=False)
class ClassRankers(LocalRankers):
    r"""A ranker for each class of queries, such as homepage finding and topic search, chosen by the query's features.

    A base ranker is trained on the queries of each class, and a multinomial logistic regression learns the class from
    the query features z. To rank a query, the ranker of its most probable class is used (``routing="hard"``), or the
    scores of all of them are mixed, :math:`\sum_c P(c \mid z)\, f_c(x)` (``"soft"``).

    Classes are given to `fit` as ``query_class``, one value per query in the order of their first appearance, or are
    found by k-means on z. With one class it is the base ranker.

    Parameters
    ----------
    routing
        ``"hard"`` or ``"soft"``.
    n_classes
        Number of classes to find if none are given.
    gate_penalty
        Strength of the squared penalty of the classifier.

    Attributes
    ----------
    classes_
        Values of ``query_class``; numbers if classes were found.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=5, random_state=0)
    >>> kinds = ["short" if q % 2 else "long" for q in range(40)]
    >>> ranker = ClassRankers(base="LinearRegression").fit(data, query_class=kinds)
    >>> ranker.classes_.tolist(), len(ranker.members_)
    (['long', 'short'], 3)

    References
    ----------
    Kang and Kim: Query type classification for web document retrieval. SIGIR 2003.
    """

    search_space: ClassVar[SearchSpace] = {"n_classes": (2, 4), "routing": ("hard", "soft")}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"routing": "soft"},)

    routing: str = "hard"
    n_classes: int = 2
    gate_penalty: float = 0.01

    def fit(self, X: Any, y: Any = None, *, query_class: Any = None, **arguments: Any) -> Self:
        """Learn from labelled documents; ``query_class`` is the class of each query, the rest as in `Ranker.fit`."""
        self._given_class = None if query_class is None else np.asarray(query_class)
        try:
            return super().fit(X, y, **arguments)
        finally:
            del self._given_class

    def prepared(self, data: RankingDataset, name: str = "X") -> RankingDataset:
        """The data as passed to `_fit`."""
        given = getattr(self, "_given_class", None)
        if given is None:
            return super().prepared(data, name)
        if given.shape != (data.n_queries,):
            raise DataError(f"query_class has shape {given.shape}, but the data have {data.n_queries} queries")
        unknown = np.flatnonzero([one is None or one != one for one in given.tolist()])  # NaN differs from itself
        if unknown.size:
            raise DataError(f"query_class: the class of query {data.qids[unknown[0]]} is missing; name one for each")
        self._class_of = dict(zip(data.qids.tolist(), given.tolist(), strict=True))
        return super().prepared(data, name)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_local()
        choice("routing", self.routing, ("hard", "soft"))
        whole("n_classes", self.n_classes, least=1)
        query_map = self._query_map(data)
        z = query_map(data.X, data.offsets, data.query_features)
        weight = given_or_ones(data.query_weight, data.n_queries)
        class_of = self.__dict__.pop("_class_of", None)
        if class_of is None:
            number = k_means(z, min(self.n_classes, data.n_queries), weight, self.random_state)
            self.classes_ = np.arange(number.max() + 1)
        else:
            self.classes_, number = distinct(np.array([class_of[qid] for qid in data.qids.tolist()]))
        parts = [np.flatnonzero(number == c) for c in range(self.classes_.size)]
        members, member = self._local(parts, data, monitor)
        targets = np.eye(self.classes_.size)[number]
        weights, intercept = fit_softmax(z, targets, weight, self.gate_penalty)
        router = SoftmaxRouter(weights, intercept, member, self.routing == "hard", len(members))
        self._settle(members, query_map, router, data, monitor)
