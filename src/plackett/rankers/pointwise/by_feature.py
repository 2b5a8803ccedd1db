"""The order of one feature: a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett._names.nearest import hint
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_number
from plackett.data.inputs import categories_of
from plackett.evaluation.importance import feature_names, feature_scores, single_feature_importance
from plackett.rankers.base import Ranker
from plackett.scorers.additive import AdditiveTerms
from plackett.solvers.monitor import Monitor

__all__ = ["ByFeature"]

#: The sign of a feature's values in the score.
DIRECTIONS = {"high first": 1, "low first": -1}


@dataclass(kw_only=True, eq=False, repr=False)
class ByFeature(Ranker):
    """Rank by one feature, such as BM25 or the score of the system that is in use: the baseline to beat.

    Nothing is learned if the feature is named. Wherever rankers are named by a text, ``"column:NAME"`` is
    ``ByFeature(feature="NAME")``. Documents without a value come last: one below the lowest score (and 0) of the
    training data, which values of new data may be below.

    Parameters
    ----------
    feature
        Name of the feature, or its number from 0; features without names are called ``"1"``, ``"2"``, …, as in LETOR
        files. None takes the best one, by `measure` on the training data.
    direction
        ``"high first"`` or ``"low first"``. None means high values first for a feature that you name, and otherwise the
        better of the two.
    measure
        Measure by which the feature is chosen.

    Examples
    --------
    >>> X, y, qid = [[3.0, 9.0], [1.0, 2.0], [2.0, 5.0]], [0, 2, 1], [1, 1, 1]
    >>> ByFeature(feature=0).fit(X, y, qid=qid).predict(X).tolist()
    [3.0, 1.0, 2.0]
    >>> best = ByFeature().fit(X, y, qid=qid)
    >>> best.feature_, best.direction_
    ('1', 'low first')

    References
    ----------
    Geng, Liu, Qin and Li: Feature selection for ranking. SIGIR 2007.
    """

    # the best feature of the easy task is the same with and without the wrong labels
    _test_skips: ClassVar[tuple[str, ...]] = ("sample_weight",)
    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"measure": ("nDCG@10", "AP")}

    feature: int | str | None = None
    direction: str | None = None
    measure: str = "nDCG@10"

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        # other columns may hold what they like; the best feature is looked for among numbers only
        return {} if self.feature is None else categories_of(X)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.direction is not None and self.direction not in DIRECTIONS:
            raise DataError(f"direction={self.direction!r}; {hint(self.direction, DIRECTIONS, 'give one of')}")
        number, direction = self._chosen(data)
        #: Name and direction of the feature that is ranked by.
        self.feature_, self.direction_ = feature_names(data)[number], direction
        refuse_categories({self.feature_} & getattr(self, "categories_", {}).keys(), type(self).__name__)
        sign = DIRECTIONS[direction]
        missing = feature_scores(data, number, sign).min(initial=0.0) - 1.0
        with monitor.training(1, type(self).__name__):
            self.scorer_ = AdditiveTerms().line(number, 0.0, float(sign), missing).scorer(data.n_features)
            monitor.keep(self.scorer_)

    def _chosen(self, data: RankingDataset) -> tuple[int, str]:
        """Number and direction of the feature to rank by."""
        if self.feature is not None:
            named = data.replace(feature_names=feature_names(data))
            return feature_number(named, self.feature, "feature"), self.direction or "high first"
        named = data.replace(feature_names=[str(j) for j in range(data.n_features)])
        if data.sample_weight is not None:  # documents of weight 0 count for nothing
            named = named.replace(y=np.where(data.sample_weight > 0, data.labels, -1.0))
        worth = single_feature_importance(named, self.measure, random_state=self.random_state or 0)
        if self.direction is None:
            best = worth.row(0, named=True)
            return int(best["feature"]), best["direction"]
        column = worth[self.direction.replace(" ", "_")].to_numpy()
        return int(worth["feature"][int(np.argmax(column))]), self.direction
