"""Shared base of the transfer rankers: source data, and a check for negative transfer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import training_data
from plackett.data.preferences import Preferences
from plackett.data.trained_columns import TrainedColumns
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.domains import domains, source_domains
from plackett.rankers.wrapper import SingleMember
from plackett.solvers.monitor import Monitor


@dataclass(kw_only=True, eq=False, repr=False)
class TransferRanker(SingleMember):
    """Base class of rankers that learn from source domains for a target domain.

    ``fit(target, source=…)`` takes the source as a `RankingDataset` (or a dict or list of several).
    ``fit(data, domain=…, target=…)`` takes the domain of each query and the name of the target domain. Source and
    target have the same features. Without a source it is the base ranker.

    Parameters
    ----------
    fallback
        Compare with the base ranker trained on the target alone, on the validation data, and keep that one if transfer
        is not better: transfer from a domain that differs from the target can do harm. Without validation data there
        is no comparison.

    Attributes
    ----------
    negative_transfer_
        Whether the target alone was at least as good on the validation data; None without validation data or source.
    """

    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression"}

    fallback: bool = True

    def fit(
        self, X: Any, y: Any = None, *, source: Any = None, domain: Any = None, target: Any = None, **arguments: Any
    ) -> Self:
        """Learn from labelled documents of the target, and of source domains.

        Parameters
        ----------
        X, y
            As in `Ranker.fit`, which also describes the other arguments.
        source
            Labelled data of another domain: a `RankingDataset`, or a dict or list of them.
        domain, target
            Instead of ``source``: the domain of each query, in the order of their first appearance, and the name of the
            target domain. The other domains are sources.
        """
        if (domain is None) != (target is None):
            raise DataError("domain names the domain of each query, target the domain to rank for; give both")
        if domain is not None:
            if source is not None:
                raise DataError("give either source, or domain and target")
            columns = {name: arguments.pop(name, None) for name in ("qid", "group", "sample_weight", "query_weight")}
            parts = domains(training_data(X, y, **columns), domain)
            if target not in parts:
                raise DataError(f"target={target!r} is not among the domains: {', '.join(map(repr, parts))}")
            X, y = parts.pop(target), None
            source = parts
        self._sources = {} if source is None else source_domains(source)
        self._target = target
        try:
            return super().fit(X, y, **arguments)
        finally:
            del self._sources, self._target

    def prepared(self, data: RankingDataset, name: str = "X") -> RankingDataset:
        """The data of the target, with those of the source domains beside them."""
        columns = TrainedColumns(None if data.feature_names is None else tuple(data.feature_names))
        ready = {}
        for domain, part in self.__dict__.get("_sources", {}).items():
            source = f"source {domain!r}"
            part = columns.aligned(part, source)
            if part.n_features != data.n_features:
                raise DataError(
                    f"{source} has {part.n_features} features, the target {data.n_features}: transfer needs "
                    "the same features in both"
                )
            if part.y is None:
                raise DataError(f"{source} has no labels")
            if part.n_queries:
                ready[domain] = super().prepared(part.replace(feature_names=data.feature_names), source)
        self._sources = ready
        return super().prepared(data, name)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        sources = self.__dict__.get("_sources", {})
        self.negative_transfer_: bool | None = None
        alone = self._trained(data, monitor.valid)
        if not sources:
            self._end_with(alone)
            monitor.judge(self.score_rows)
            return
        watched = self.fallback and monitor.valid is not None
        if watched:
            self._end_with(alone)
            _, stop = monitor.judge(self.score_rows)
            if stop:
                return
        self._transfer(data, sources, monitor.valid, alone)
        better, _ = monitor.judge(self.score_rows)
        if watched:
            self.negative_transfer_ = not better
            if not better:
                self._end_with(alone)

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        """Set the scorer learned from source and target; ``alone`` was trained on the target."""
        raise NotImplementedError

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        card = super()._card(data, monitor)
        sources = self.__dict__.get("_sources", {})
        target = self.__dict__.get("_target")
        transfer: dict[str, Any] = {} if target is None else {"target": str(target)}
        transfer["sources"] = {str(name): part.n_queries for name, part in sources.items()}
        if self.negative_transfer_ is not None:
            transfer |= {"target alone": monitor.history[0], "transfer": monitor.history[1]}
            transfer["kept"] = "target alone" if self.negative_transfer_ else "transfer"
        return card | {"transfer": transfer}


def agreement(data: RankingDataset, scores: np.ndarray) -> tuple[Preferences, np.ndarray]:
    """The pairs of unequal labels that scores order correctly (ties do not count), and their share in each query.

    The share is NaN for queries without pairs.
    """
    pairs = Preferences.from_labels(data, margin=False)
    right = scores[pairs.winner] > scores[pairs.loser]
    query = data.query_of_row[pairs.winner]
    total = np.bincount(query, minlength=data.n_queries)
    share = np.divide(
        np.bincount(query, right, data.n_queries), total, out=np.full(data.n_queries, np.nan), where=total > 0
    )
    return pairs.take(np.flatnonzero(right)), share
