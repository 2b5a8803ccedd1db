"""Several rankers, and a rule that says which of them scores a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.scorers._members import WithMembers, member_scores, trained, unlabelled
from plackett.scorers.fields import array, inner, number
from plackett.scorers.member import Member
from plackett.scorers.query_map import QueryMap, query_features
from plackett.scorers.routers import Router, router_class

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
class RoutedScorer(WithMembers):
    """Several rankers, of which member 0 is the global one; the router weighs them for each query.

    Parameters
    ----------
    members
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
    members: tuple[Member, ...] = trained()
    factors: np.ndarray = array("members")
    shrink: float = number(float, most=1)
    query_map: QueryMap | None = query_features(optional=True)
    router: Router | None = inner(router_class, optional=True)

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: true with several members, as the query decides on one."""
        return len(self.members) > 1 or super().list_aware

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        if len(self.members) == 1:
            return member_scores(self.members[0], data, n_jobs)
        z = features_of(self, data.X, data.offsets, data.query_features)
        chosen = self.choose(data.X, data.offsets, z)
        return self.score(chosen, data.X, data.offsets, n_jobs, data.query_features, data.relations)

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
        for i, queries, weight in _uses(chosen):
            part = whole.select(queries)
            rows = np.arange(part.n_rows) + np.repeat(offsets[queries] - part.offsets[:-1], part.group)
            own = member_scores(self.members[i], part, n_jobs) * self.factors[i]
            scores[rows] += (local * weight)[part.query_of_row] * own
        if self.shrink > 0.0:
            scores += self.shrink * member_scores(self.members[0], whole, n_jobs)
        return scores

    def check(self) -> None:
        """Several members have a router that fits them."""
        self.check_that(self.router is not None or len(self.members) == 1, "no rule to choose among several rankers")
        if self.router is not None:
            self.router.check_fits(len(self.members), 0 if self.query_map is None else self.query_map.n_features)


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
