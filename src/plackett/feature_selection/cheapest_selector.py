"""The cheapest features with which a ranker is nearly as good as it can be, as a transformer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.splits import split_queries
from plackett.feature_selection.cost import feature_frontier
from plackett.feature_selection.selector import FeatureSelector

__all__ = ["CheapestSelector"]


class CheapestSelector(FeatureSelector):
    """Keep the cheapest features with which a ranker is within ε of its best measure (see `feature_frontier`).

    Parameters
    ----------
    ranker
        The ranker to train on sets of features: an estimator, which is copied, or the name of a ranker.
    costs, epsilon, budget, measure, method
        See `feature_frontier`.
    validation_fraction
        Share of the queries on which sets are measured.
    random_state
        Seed of the split.

    Attributes
    ----------
    selected_
        Indices of the selected features, in the order of selection.
    frontier_
        What `feature_frontier` returned.

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, 8, 4, random_state=0)
    >>> CheapestSelector(costs=[9, 1, 1, 1], budget=2).fit(data).selected_.size <= 2
    True
    """

    def __init__(
        self,
        ranker: Any = "LinearRegression",
        *,
        costs: Any = None,
        epsilon: float = 0.005,
        budget: float | None = None,
        measure: Any = "nDCG@10",
        method: str = "forward",
        validation_fraction: float = 0.3,
        random_state: int = 0,
    ) -> None:
        self.ranker = ranker
        self.costs = costs
        self.epsilon = epsilon
        self.budget = budget
        self.measure = measure
        self.method = method
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _choose(self, data: RankingDataset) -> np.ndarray:
        share = self.validation_fraction
        if not 0.0 < share < 1.0 or data.n_queries < 2:
            raise DataError(f"validation_fraction={share!r} cannot split {data.n_queries} queries")
        numbered = replace(data, qids=np.arange(data.n_queries))  # the split must not depend on how ids are written
        train, valid = split_queries(numbered, (1.0 - share, share), random_state=self.random_state)
        self.frontier_ = feature_frontier(
            self.ranker,
            train,
            valid,
            costs=self.costs,
            epsilon=self.epsilon,
            budget=self.budget,
            measure=self.measure,
            method=self.method,
        )
        return self.frontier_.selected
