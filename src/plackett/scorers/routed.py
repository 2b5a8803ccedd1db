"""Several rankers, and a rule that says which of them scores a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._members import Member, member_scores, pack_members, same_features, unlabelled, unpack_members
from plackett.scorers.base import Size, check_finite
from plackett.scorers.query_map import QueryMap
from plackett.scorers.routers import ROUTERS, Router

__all__ = ["RoutedScorer"]


class QueryScorer(Protocol):
    """A scorer that looks at the query first: its features, then a model for it, then the scores."""

    @property
    def query_map(self) -> QueryMap | None:
        """How the features of a query are made; None if the scorer needs none."""

    def choose(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> Any:
        """What to score each query with."""

    def score(self, chosen: Any, X: Any, offsets: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Score of each row."""


def features_of(scorer: QueryScorer, X: Any, offsets: np.ndarray, given: np.ndarray | None) -> np.ndarray:
    """Standardised features of the queries; none if the scorer needs none."""
    return np.empty((offsets.size - 1, 0)) if scorer.query_map is None else scorer.query_map(X, offsets, given)


@dataclass(frozen=True)
class RoutedScorer:
    """Several rankers, of which member 0 is the global one; the router weighs them for each query.

    Parameters
    ----------
    rankers
        The members.
    factors
        Factor of each member's scores, which brings them to one scale.
    shrink
        Share of the global ranker in every score, from 0 to 1.
    query_map
        How the features of a query are made; None if the router needs none.
    router
        The rule; None for a single member.
    """

    kind: ClassVar[str] = "routed"
    #: Whether `predict` takes the features of the queries.
    reads_queries: ClassVar[bool] = True
    #: Whether `predict` takes the relations of the documents, for members that need them.
    reads_relations: ClassVar[bool] = True
    rankers: tuple[Member, ...]
    factors: np.ndarray
    shrink: float
    query_map: QueryMap | None
    router: Router | None

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: true with several members, as the query decides on one."""
        return len(self.rankers) > 1 or any(ranker.scorer_.list_aware for ranker in self.rankers)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("members", self.rankers[0].n_features_in_)

    def predict(
        self,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None = None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row."""
        if len(self.rankers) == 1:
            return member_scores(self.rankers[0], unlabelled(X, offsets, query_features, relations), n_jobs)
        z = features_of(self, X, offsets, query_features)
        return self.score(self.choose(X, offsets, z), X, offsets, n_jobs, query_features, relations)

    def choose(self, X: Any, offsets: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The number of the member for each query, or a table of weights, queries × members."""
        if self.router is None:
            return np.zeros(offsets.size - 1, np.int64)
        return self.router(X, offsets, z)

    def score(
        self,
        chosen: np.ndarray,
        X: Any,
        offsets: np.ndarray,
        n_jobs: int | None,
        query_features: np.ndarray | None = None,
        relations: Any = None,
    ) -> np.ndarray:
        """Score of each row by the chosen members."""
        whole = unlabelled(X, offsets, query_features, relations)
        scores = np.zeros(X.shape[0])
        local = 1.0 - self.shrink
        for number, queries, weight in _uses(chosen):
            part = whole.select(queries)
            rows = np.arange(part.n_rows) + np.repeat(offsets[queries] - part.offsets[:-1], part.group)
            own = member_scores(self.rankers[number], part, n_jobs) * self.factors[number]
            scores[rows] += (local * weight)[part.query_of_row] * own
        if self.shrink > 0.0:
            scores += self.shrink * member_scores(self.rankers[0], whole, n_jobs)
        return scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        own = {"factors": self.factors, "shrink": np.array([self.shrink])}
        if self.router is not None:
            own["router"] = np.frombuffer(self.router.name.encode(), np.uint8)
            own |= {f"router.{name}": array for name, array in self.router.to_arrays().items()}
        if self.query_map is not None:
            own |= self.query_map.to_arrays()
        return own | pack_members(self.rankers)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> RoutedScorer:
        """The scorer that `to_arrays` wrote."""
        factors, rankers = np.array(arrays["factors"]), same_features(unpack_members(arrays))
        shrink = np.array(arrays["shrink"])
        if factors.dtype != np.float64 or factors.shape != (len(rankers),) or shrink.shape != (1,):
            raise DataError(f"{len(rankers)} routed rankers with factors of shape {factors.shape}")
        if not 0.0 <= shrink[0] <= 1.0 or ("router" not in arrays and len(rankers) > 1):
            raise DataError("the model has several rankers and no rule to choose among them")
        check_finite({"factors": factors})
        query_map = QueryMap.from_arrays(arrays) if "z.head" in arrays else None
        if "router" not in arrays:
            return cls(rankers, factors, float(shrink[0]), query_map, None)
        name = arrays["router"].tobytes().decode()
        if name not in ROUTERS:
            raise DataError(f"the router {name!r:.50} is not known to this version of plackett")
        parts = {key.removeprefix("router."): value for key, value in arrays.items() if key.startswith("router.")}
        width = 0 if query_map is None else query_map.n_features
        router = ROUTERS[name].from_arrays(parts, len(rankers), width)
        return cls(rankers, factors, float(shrink[0]), query_map, router)


def _uses(chosen: np.ndarray) -> Any:
    """Each member in use, the queries that use it, and the weight it has there."""
    if chosen.size == 0:
        return
    if chosen.ndim == 1:
        order = np.argsort(chosen, kind="stable")
        numbers, starts = np.unique(chosen[order], return_index=True)
        for number, queries in zip(numbers, np.split(order, starts[1:]), strict=True):
            yield int(number), queries, np.ones(queries.size)
        return
    for number in range(chosen.shape[1]):
        queries = np.flatnonzero(chosen[:, number])
        if queries.size:
            yield number, queries, chosen[queries, number]
