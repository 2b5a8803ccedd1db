"""Rules that say which of several rankers scores a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.fields import Stored, array, number
from plackett.scorers.products import table_times
from plackett.scorers.subspaces import directions, similarities

#: Distances are computed for this many queries at a time.
_BLOCK = 1024


class Router(Stored):
    """Chooses among the members of a `RoutedScorer`."""

    #: The member that each choice stands for.
    member: np.ndarray = array("queries", np.int64, least=0)

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query, or a table of weights, queries × members."""
        raise NotImplementedError

    def check_fits(self, n_members: int, width: int) -> None:
        """Refuse a router of a file that names other members, or expects other features of queries, than there are."""
        known = self.member.size and self.member.max() < n_members
        self.check_that(bool(known), f"the router names member {self.member.max(initial=-1)}, of {n_members}")
        points = getattr(self, "points", None)
        self.check_that(points is None or points.shape[1] == width, f"the router does not fit {width} query features")


def nearest(points: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """Numbers of the k nearest points of each query by Euclidean distance, nearest first; ties by number."""
    k = min(k, points.shape[0])
    neighbours = np.empty((queries.shape[0], k), np.int64)
    squares = (points**2).sum(axis=1)
    for start in range(0, queries.shape[0], _BLOCK):
        block = queries[start : start + _BLOCK]
        far = squares - 2.0 * (block @ points.T) + (block**2).sum(axis=1)[:, None]
        # equal points must tie exactly, whatever the rounding
        far = np.round(np.maximum(far, 0.0), 9)
        neighbours[start : start + _BLOCK] = np.argsort(far, axis=1, kind="stable")[:, :k]
    return neighbours


@dataclass(frozen=True)
class NearestRouter(Router):
    """The member of the nearest training query."""

    kind: ClassVar[str] = "nearest"
    points: np.ndarray = array("queries width")
    member: np.ndarray = array("queries", np.int64, least=0)

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query."""
        return self.member[nearest(self.points, z, 1)[:, 0]]


@dataclass(frozen=True)
class OverlapRouter(Router):
    """The member of the training query whose neighbours are most like those of the query."""

    kind: ClassVar[str] = "overlap"
    points: np.ndarray = array("queries width")
    member: np.ndarray = array("queries", np.int64, least=0)
    #: Neighbours of each training query, queries × k.
    neighbours: np.ndarray = array("queries k", np.int64, least=0)

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query."""
        n, k = self.neighbours.shape
        starts, holders = self._holders
        neighbours = nearest(self.points, z, k)
        chosen = np.empty(z.shape[0], np.int64)
        for i, near in enumerate(neighbours):
            lists = [holders[starts[j] : starts[j + 1]] for j in near]
            common = np.bincount(np.concatenate(lists), minlength=n)
            best = np.flatnonzero(common == common.max())
            # ties: the nearest query
            rank = np.full(n, k)
            rank[near] = np.arange(k)
            closest = best[rank[best] == rank[best].min()]
            if closest.size > 1 and rank[closest[0]] == k:
                closest = closest[nearest(self.points[closest], z[i : i + 1], 1)[0]]
            chosen[i] = self.member[closest[0]]
        return chosen

    @property
    def _holders(self) -> tuple[np.ndarray, np.ndarray]:
        """For each training query, the queries that have it among their neighbours, as offsets and a flat array."""
        n, k = self.neighbours.shape
        order = np.argsort(self.neighbours.ravel(), kind="stable")
        counts = np.bincount(self.neighbours.ravel(), minlength=n)
        return np.concatenate(([0], np.cumsum(counts))), order // k

    def check(self) -> None:
        """Every training query has neighbours."""
        n, k = self.neighbours.shape
        self.check_that(0 < k <= n and self.neighbours.max() < n, "the router has neighbours that are not there")


@dataclass(frozen=True)
class SoftmaxRouter(Router):
    """Members weighed by a multinomial logistic function of the query features, or only the likeliest."""

    kind: ClassVar[str] = "softmax"
    weights: np.ndarray = array("width classes")
    intercept: np.ndarray = array("classes")
    #: The member of each class.
    member: np.ndarray = array("classes", np.int64, least=0)
    hard: bool = number(bool)
    n_members: int = number(least=1)

    def probabilities(self, z: np.ndarray) -> np.ndarray:
        """Probability of each class, queries × classes."""
        # the sums of a query must not depend on the other queries, which BLAS does not guarantee
        logits = table_times(np.ascontiguousarray(z, np.float32), self.weights) + self.intercept
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query, or the weights of the members."""
        p = self.probabilities(z)
        if self.hard:
            return self.member[p.argmax(axis=1)]
        weights = np.zeros((p.shape[0], self.n_members))
        for column, chosen in enumerate(self.member):
            weights[:, chosen] += p[:, column]
        return weights

    def check_fits(self, n_members: int, width: int) -> None:
        """Refuse weights for other features of queries than there are."""
        super().check_fits(n_members, width)
        fits = self.weights.shape[0] == width and self.n_members == n_members
        self.check_that(fits, f"the weights of the router do not fit {width} query features and {n_members} members")


@dataclass(frozen=True)
class SubspaceRouter(Router):
    """The member of the training query whose principal directions are most like those of the query's documents."""

    kind: ClassVar[str] = "subspace"
    #: Principal directions of each training query, queries × components × features.
    directions: np.ndarray = array("queries components features", finite=False)
    member: np.ndarray = array("queries", np.int64, least=0)
    scale: np.ndarray = array("features", positive=True)

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query."""
        if offsets.size == 1:
            return np.empty(0, np.int64)
        own = directions(X, offsets, self.directions.shape[1], self.scale)
        return self.member[np.round(similarities(own, self.directions), 12).argmax(axis=1)]


def router_class(kind: str) -> type[Router]:
    """The class of routers of this kind."""
    for router in (NearestRouter, OverlapRouter, SoftmaxRouter, SubspaceRouter):
        if router.kind == kind:
            return router
    raise DataError(f"the router {kind!r:.50} is not known to this version of plackett")
