"""Rules that say which of several rankers scores a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._products import table_times
from plackett.scorers.subspaces import directions, similarities

#: Distances are computed for this many queries at a time.
_BLOCK = 1024


class Router(Protocol):
    """Chooses among the members of a `RoutedScorer`."""

    name: ClassVar[str]

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query, or a table of weights, queries × members."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The router as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_members: int, width: int) -> Self:
        """The router that `to_arrays` wrote, checked against the number of members and of query features."""


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
class NearestRouter:
    """The member of the nearest training query."""

    name: ClassVar[str] = "nearest"
    points: np.ndarray
    member: np.ndarray

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query."""
        return self.member[nearest(self.points, z, 1)[:, 0]]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The router as named arrays."""
        return {"points": self.points, "member": self.member}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_members: int, width: int) -> NearestRouter:
        """The router that `to_arrays` wrote."""
        return cls(*_checked_points(arrays, n_members, width))


@dataclass(frozen=True)
class OverlapRouter:
    """The member of the training query whose neighbours are most like those of the query."""

    name: ClassVar[str] = "overlap"
    points: np.ndarray
    member: np.ndarray
    #: Neighbours of each training query, queries × k.
    neighbours: np.ndarray

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The router as named arrays."""
        return {"points": self.points, "member": self.member, "neighbours": self.neighbours}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_members: int, width: int) -> OverlapRouter:
        """The router that `to_arrays` wrote."""
        points, member = _checked_points(arrays, n_members, width)
        near = np.array(arrays["neighbours"])
        fits = near.dtype == np.int64 and near.ndim == 2 and near.shape[0] == points.shape[0] >= near.shape[1] > 0
        if not fits or near.min() < 0 or near.max() >= points.shape[0]:
            raise DataError("the neighbours of the router are damaged")
        return cls(points, member, near)


@dataclass(frozen=True)
class SoftmaxRouter:
    """Members weighed by a multinomial logistic function of the query features, or only the likeliest."""

    name: ClassVar[str] = "softmax"
    weights: np.ndarray
    intercept: np.ndarray
    #: The member of each class.
    member: np.ndarray
    hard: bool
    n_members: int

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
        for column, number in enumerate(self.member):
            weights[:, number] += p[:, column]
        return weights

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The router as named arrays."""
        return {
            "weights": self.weights,
            "intercept": self.intercept,
            "member": self.member,
            "hard": np.array([int(self.hard)]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_members: int, width: int) -> SoftmaxRouter:
        """The router that `to_arrays` wrote."""
        weights, intercept = (np.array(arrays[name]) for name in ("weights", "intercept"))
        member, hard = _members(arrays["member"], n_members), bool(np.array(arrays["hard"])[0])
        if weights.shape != (width, member.size) or intercept.shape != (member.size,) or weights.dtype != np.float64:
            raise DataError("the weights of the router are damaged")
        return cls(weights, intercept, member, hard, n_members)


@dataclass(frozen=True)
class SubspaceRouter:
    """The member of the training query whose principal directions are most like those of the query's documents."""

    name: ClassVar[str] = "subspace"
    #: Principal directions of each training query, queries × components × features.
    directions: np.ndarray
    member: np.ndarray
    scale: np.ndarray

    def __call__(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query."""
        if offsets.size == 1:
            return np.empty(0, np.int64)
        own = directions(X, offsets, self.directions.shape[1], self.scale)
        return self.member[np.round(similarities(own, self.directions), 12).argmax(axis=1)]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The router as named arrays."""
        return {"directions": self.directions, "member": self.member, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_members: int, width: int) -> SubspaceRouter:
        """The router that `to_arrays` wrote."""
        subspaces, member, scale = (
            np.array(arrays["directions"]),
            _members(arrays["member"], n_members),
            np.array(arrays["scale"]),
        )
        fits = subspaces.ndim == 3 and subspaces.dtype == np.float64 and subspaces.shape[0] == member.size > 0
        if not fits or scale.shape != subspaces.shape[2:] or not (scale > 0).all():
            raise DataError("the directions of the router are damaged")
        return cls(subspaces, member, scale)


ROUTERS: dict[str, type[Any]] = {
    router.name: router for router in (NearestRouter, OverlapRouter, SoftmaxRouter, SubspaceRouter)
}


def _members(given: np.ndarray, n_members: int) -> np.ndarray:
    member = np.array(given)
    if member.dtype != np.int64 or member.ndim != 1 or member.size == 0:
        raise DataError("the members of the router are damaged")
    if member.min() < 0 or member.max() >= n_members:
        raise DataError(f"a router names member {member.max()}, of {n_members}")
    return member


def _checked_points(arrays: dict[str, np.ndarray], n_members: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    points, member = np.array(arrays["points"]), _members(arrays["member"], n_members)
    if points.dtype != np.float64 or points.shape != (member.size, width):
        raise DataError(f"{member.size} training queries with features of shape {points.shape}")
    return points, member
