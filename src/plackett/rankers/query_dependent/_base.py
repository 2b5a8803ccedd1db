"""Shared by the query-dependent rankers: query features, local members, shrinkage towards the global ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.rankers.base import Ranker
from plackett.rankers.blend import spread_within_lists
from plackett.rankers.query_dependent._near import near
from plackett.rankers.query_dependent.features import column_number
from plackett.rankers.wrapper import Wrapper
from plackett.scorers.query_map import QueryMap
from plackett.scorers.routed import RoutedScorer
from plackett.scorers.routers import Router
from plackett.solvers.monitor import Monitor

#: Shares of the global ranker to try on validation data; the first, the global ranker alone, wins ties.
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(kw_only=True, eq=False, repr=False)
class UsesQueryFeatures(Ranker):
    """Base class of rankers that look at features z of the query.

    Parameters
    ----------
    query_features
        Where z comes from: ``"given"`` (the ``query_features`` of the dataset), ``"computed"`` (from the documents of
        the list, see `plackett.query_features`), or columns of the features (names or numbers) whose values do not vary
        within a query. ``"auto"`` uses those of the dataset if it has some, and computes them otherwise. They are
        standardised; features that are the same in all training queries are left out.
    reference, top
        For computed features: the column by which the ``top`` best documents are chosen (a retrieval score, say); None
        uses all documents.
    """

    query_features: Any = "auto"
    reference: int | str | None = None
    top: int = 10

    def _query_map(self, data: RankingDataset) -> QueryMap:
        """How query features are made, fitted to the training queries."""
        source, columns = self.query_features, None
        if isinstance(source, str) and source == "auto":
            source = "computed" if data.query_features is None else "given"
        if isinstance(source, str) and source not in ("given", "computed"):
            source = [source]
        if isinstance(source, (int, np.integer)):
            source = [source]
        if not isinstance(source, str):
            columns = self._columns_of(data, source)
            source = "columns"
        if source == "given" and data.query_features is None:
            raise DataError(
                "query_features='given', but the data have none: give RankingDataset.from_arrays(…, query_features=…), "
                "name columns of the features, or use query_features='computed'"
            )
        whole("top", self.top, least=1)
        reference = column_number(data, self.reference)
        return QueryMap.fitted(
            source, data.X, data.offsets, data.query_features, columns=columns, reference=reference, top=self.top
        )

    @staticmethod
    def _columns_of(data: RankingDataset, given: Any) -> np.ndarray:
        if not isinstance(given, (Sequence, np.ndarray)) or len(given) == 0:
            raise DataError(
                f"query_features={given!r}; give 'auto', 'given', 'computed', or names or numbers of columns"
            )
        columns = np.array([column_number(data, column, "query_features") for column in given], np.int64)
        values = dense(data.X[:, columns])
        first = np.repeat(np.minimum(data.offsets[:-1], max(data.n_rows - 1, 0)), data.group)
        vary = ((values != values[first]) & ~np.isnan(values)).any(axis=0)
        if vary.any():
            name = given[int(np.flatnonzero(vary)[0])]
            raise DataError(f"query_features: column {name!r} varies within a query; it does not describe the query")
        return columns


@dataclass(kw_only=True, eq=False, repr=False)
class QueryDependent(UsesQueryFeatures, Wrapper):
    """Base class of rankers around another ranker that look at features of the query."""

    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression"}
    # neighbours, classes and components are those of the queries, whatever they weigh; an interrupt ends a member
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt", "query_weight")


@dataclass(kw_only=True, eq=False, repr=False)
class LocalRankers(QueryDependent):
    r"""Base class of rankers with one global member and local ones, each for a part of the queries.

    Parameters
    ----------
    shrink
        Share of the global ranker in every score, from 0 (local rankers only) to 1 (the global ranker only). It guards
        against over-fitting of rankers trained on few queries. ``"auto"`` chooses 1, 0.75, 0.5, 0.25 or 0 by
        `eval_measure` on the validation data, and so falls back to the global ranker unless something else is better;
        without validation data it is 0.
    rho
        Strength of the penalty :math:`\frac{\rho}{2} \lVert w - w_g \rVert^2` that keeps the weights w of each
        local ranker near the weights :math:`w_g` of the global one. It is added to the objective of the base ranker: 0
        trains local rankers independently, and with a very large value they equal the global ranker. Only for linear
        base rankers with a smooth loss; `shrink`, which mixes scores, works for all. Both can be used together.
    min_queries
        Parts with fewer queries use the global ranker.

    Attributes
    ----------
    shrink_
        Share of the global ranker that is used.
    members_
        The trained rankers, the global one first.
    """

    search_space: ClassVar[SearchSpace] = {"shrink": Real(0.0, 1.0)}

    shrink: float | str = "auto"
    rho: float = 0.0
    min_queries: int = 1

    def _check_local(self) -> None:
        if self.shrink != "auto" and (isinstance(self.shrink, str) or not 0.0 <= self.shrink <= 1.0):
            raise DataError(f"shrink={self.shrink!r}; give a number from 0 to 1, or 'auto'")
        whole("min_queries", self.min_queries, least=1)
        if isinstance(self.rho, str) or not 0.0 <= self.rho < np.inf:
            raise DataError(f"rho={self.rho!r}; give 0 or more")

    def _local_ranker(self, data: RankingDataset, valid: RankingDataset | None, overall: Ranker) -> Ranker:
        """A ranker trained on some of the queries, kept near the global one if ``rho`` is positive."""
        if self.rho == 0.0:
            return self._trained(data, valid, like=overall)
        return near(self._member(overall), data, overall, self.rho)

    def _local(
        self, parts: list[np.ndarray], data: RankingDataset, monitor: Monitor
    ) -> tuple[list[Ranker], np.ndarray]:
        """The global ranker and one for each part of the queries; the number of the member of each part.

        Equal parts share a member. Parts that contain all queries, or too few, use the global one.
        """
        members = [self._trained(data, monitor.valid)]
        known: dict[bytes, int] = {np.arange(data.n_queries).tobytes(): 0}
        member = np.zeros(len(parts), np.int64)
        self._stopped = monitor.update() if monitor.valid is None else False
        for i, part in enumerate(parts):
            part = np.sort(part)
            key = part.astype(np.int64).tobytes()
            if key not in known:
                if part.size < self.min_queries or part.size == 0:
                    continue
                known[key] = len(members)
                members.append(self._local_ranker(data.select(part), monitor.valid, members[0]))
            member[i] = known[key]
        return members, member

    def _settle(
        self,
        members: list[Ranker],
        query_map: QueryMap | None,
        router: Router,
        data: RankingDataset,
        monitor: Monitor,
    ) -> None:
        """Choose the share of the global ranker, and set the scorer."""
        spreads = np.array([spread_within_lists(member.score_rows(data), data) for member in members])
        factors = spreads[0] / spreads
        factors[0] = 1.0

        def scorer(share: float) -> RoutedScorer:
            if share == 1.0 or len(members) == 1:
                return RoutedScorer((members[0],), np.ones(1), 0.0, None, None)
            # a single member's scores need no common scale
            alone = share == 0.0 and getattr(router, "hard", True)
            used = np.ones(len(members)) if alone else factors
            return RoutedScorer(tuple(members), used, share, query_map, router)

        if self.shrink != "auto":
            shares: tuple[float, ...] = (float(self.shrink),)
        elif monitor.valid is None or len(members) == 1:
            shares = (0.0,)
        else:
            shares = SHARES
        best = shares[0]
        for share in shares:
            candidate = scorer(share)
            if monitor.valid is None:
                break
            better, stop = monitor.judge(partial(self._scored, candidate))
            best = share if better else best
            if stop:
                break
        self.shrink_ = best
        self.scorer_ = scorer(best)

    def _scored(self, scorer: RoutedScorer, data: RankingDataset) -> np.ndarray:
        return scorer.predict(data.X, data.offsets, self.n_jobs, data.query_features, data.relations)

    def settled(self) -> dict[str, Any]:
        """The share of the global ranker that was chosen."""
        return super().settled() | {"shrink": self.shrink_}

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        return super()._card(data, monitor) | {
            "local rankers": {"rankers": len(self.members_), "share of the global one": self.shrink_}
        }


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterRankers(LocalRankers):
    """Base class of rankers with a local ranker for each cluster of the training queries.

    Attributes
    ----------
    clusters_
        Number of the cluster of each query, in the order of the training data; -1 for queries that it was not trained
        on, because they were set aside for validation or have weight 0.
    """

    def prepared(self, data: RankingDataset, name: str = "X") -> RankingDataset:
        self._given_qids = data.qids.tolist()
        return super().prepared(data, name)

    def _note_clusters(self, data: RankingDataset, number: np.ndarray) -> None:
        """Record the cluster of each query of the data that were given to `fit`."""
        clusters = dict(zip(data.qids.tolist(), number.tolist(), strict=True))
        given = self.__dict__.pop("_given_qids", clusters)
        self.clusters_ = np.array([clusters.get(qid, -1) for qid in given], np.int64)
