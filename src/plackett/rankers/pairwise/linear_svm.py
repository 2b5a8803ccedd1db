"""Shared base of the linear support vector machines over pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.losses.pairwise.margin_pairs import MarginPairs
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor
from plackett.solvers.pair_svm import train


@dataclass(kw_only=True, eq=False, repr=False)
class LinearPairSVM(Ranker):
    r"""Shared base of the linear support vector machines over pairs: objective, solvers and fitted attributes.

    Parameters
    ----------
    C
        Penalty for a violated pair.
    loss
        ``"squared_hinge"`` (ξ², truncated Newton) or ``"hinge"`` (ξ, cutting planes).
    margin
        Margin by which the better document should lead: a number, or ``"label"`` for the difference of the labels. A
        preference that has its own margin uses that instead.
    standardize
        Divide each feature by its standard deviation while training, so that one penalty fits all. The resulting
        weights apply to the original features.
    tol
        Relative duality gap at which to stop.
    max_iter
        Maximum number of rounds: Newton steps or cutting planes.

    Attributes
    ----------
    coef_
        Weight of each feature.
    objective_
        The objective at these weights (for the standardised features, if they are).
    gap_
        (objective − lower bound of any objective) / objective, proved by a dual solution; 1 if training was
        interrupted.
    n_iter_
        Rounds of the solver.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None  # `max_iter` is an upper bound that training rarely reaches
    search_space: ClassVar[SearchSpace] = {"C": Real(1e-6, 0.1, log=True)}

    C: float = 1e-3
    loss: str = "squared_hinge"
    margin: float | str = 1.0
    standardize: bool = True
    tol: float = 1e-3
    max_iter: int = 1000

    def make_pairs(self, data: RankingDataset) -> MarginPairs:
        """The pairs to keep apart."""
        raise NotImplementedError

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Training stops after `max_iter` rounds at the latest."""
        return {"max_iter": rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        scale = feature_scale(data.X, weight_of_rows(data), self.standardize)
        trained = train(
            data.X,
            scale,
            self.make_pairs(data),
            C=self.C,
            loss=self.loss,
            tol=self.tol,
            max_iter=self.max_iter,
            monitor=monitor,
            what=type(self).__name__,
            n_jobs=self.n_jobs,
        )
        self.objective_, self.gap_, self.n_iter_ = trained.objective, trained.gap, trained.n_iter
        self.scorer_ = LinearScorer((trained.weights / scale)[:, None], np.zeros(1))
