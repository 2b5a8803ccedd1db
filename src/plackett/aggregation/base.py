"""The base class of aggregation methods: frozen objects that score the documents of several lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.lists import RankLists

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Aggregation"]


@dataclass(frozen=True, kw_only=True)
class Aggregation:
    """Base class of all aggregation methods.

    A subclass is a frozen dataclass whose fields are the parameters; `_scores` does the work.

    Parameters
    ----------
    weights
        How much each list counts: numbers of 0 or more in the order of the lists, or a dict by list name (lists not
        named count 1). By default all lists count the same. `fit` finds weights from judgements.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    #: Whether weights below 0 have a meaning.
    signed: ClassVar[bool] = False

    weights: Any = None

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        raise NotImplementedError

    def scores(self, lists: RankLists, *, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row of the lists, larger is better. Documents that appear in no list, or only in
        lists of weight 0, come last in their query.
        """
        weights = self.list_weights(lists)
        scores = self._scores(lists, weights, n_jobs)
        lost = lists.unlisted if weights.all() else np.flatnonzero(~lists.listed[:, weights != 0].any(axis=1))
        if lost.size:
            scores = np.array(scores)
            scores[lost] = np.inf  # ignored by the minimum
            lowest = np.minimum.reduceat(scores, lists.offsets[:-1])
            scores[lost] = lists.per_row(np.where(np.isfinite(lowest), lowest, 1.0))[lost] - 1.0
        return scores

    def run(self, lists: RankLists, *, n_jobs: int | None = None) -> pl.DataFrame:
        """The aggregated lists as a run: columns ``qid``, ``docid``, ``score``, best first in each query."""
        return lists.run(self.scores(lists, n_jobs=n_jobs))

    def order(self, lists: RankLists) -> list[Any]:
        """The aggregated list of a single query: document ids, best first; equal scores in the order of the rows."""
        if lists.n_queries != 1:
            raise DataError(f"order works on one query, got {lists.n_queries}; use run or scores")
        best = np.argsort(-self.scores(lists), kind="stable")
        return [lists.docids[int(row)] for row in best]

    def fit(self, lists: RankLists, judgements: Any, measure: Any = "nDCG@10", *, n_jobs: int | None = None) -> Self:
        """The same method with the weights that perform best on judged queries; see `plackett.aggregation.tuning`.

        Parameters
        ----------
        lists
            The lists of the judged queries.
        judgements
            One label per row of the lists, or qrels in any form that `plackett.evaluate_run` accepts.
        measure
            What to maximise: a name such as ``"AP"``, or a measure.
        """
        from plackett.aggregation.judged import judge
        from plackett.aggregation.tuning import best_weights
        from plackett.measures.language import parse

        judged, goal = judge(lists, judgements), parse(measure)

        def value(weights: np.ndarray) -> float:
            method = dataclasses.replace(self, weights=tuple(weights))
            return judged.value(method.scores(lists, n_jobs=n_jobs), goal, n_jobs)

        return dataclasses.replace(self, weights=best_weights(self.list_weights(lists), value))

    def list_weights(self, lists: RankLists) -> np.ndarray:
        """The weight of each list, checked."""
        given = self.weights
        if given is None:
            return np.ones(lists.n_lists)
        if isinstance(given, Mapping):
            for name in given:
                if name not in lists.names:
                    raise DataError(f"weights: unknown list {name!r}; the lists are {', '.join(lists.names)}")
            given = [given.get(name, 1.0) for name in lists.names]
        weights = np.array(given, float)
        if weights.shape != (lists.n_lists,):
            raise DataError(f"weights must be {lists.n_lists} numbers, one per list; got shape {weights.shape}")
        low = -np.inf if self.signed else 0.0
        for m in np.flatnonzero(~(np.isfinite(weights) & (weights >= low)))[:1]:
            raise DataError(f"the weight {weights[m]} of list {lists.names[m]!r} must be a number of 0 or more")
        if not weights.any():
            raise DataError("the weights are all 0: no list would count")
        return weights
