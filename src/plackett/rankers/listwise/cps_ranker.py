"""The coset-permutation stagewise model as a ranker: features are lists that are aggregated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.aggregation.cps import stagewise_objective
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.scorers.stagewise import StagewiseScorer, feature_lists
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["CPSRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class CPSRanker(Ranker):
    r"""Coset-permutation distance based stagewise model: every feature ranks the documents, and the rankings are
    weighted.

    The supervised rank aggregation of `plackett.aggregation.CPS`, with each feature as a list: larger values rank
    higher (a feature that holds ranks gets a negative weight), and NaN means that the document is missing from the list
    and ranks below the others. Only the order within each feature counts, so features need no scaling.
    ``sample_weight`` weights the choice of a document at its stage.

    Parameters
    ----------
    alpha
        Strength of the L2 penalty on the weights.
    max_iter, tol
        Maximum number of L-BFGS iterations, and the relative change of the objective at which to stop.

    Examples
    --------
    >>> ranker = CPSRanker().fit([[3.0, 1.0], [1.0, 2.0], [0.5, 3.0]] * 2, [2, 1, 0] * 2, qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.predict([[10.0, 0.0], [20.0, 0.0]], qid=[1, 1]).tolist()
    [1.0, 2.0]

    References
    ----------
    Qin, Geng, Liu: A new probabilistic model for rank aggregation. NIPS 2010.
    """

    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}

    alpha: float = 1e-3
    max_iter: int = 300
    tol: float = 1e-9

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if not (self.alpha >= 0 and self.max_iter >= 1):
            raise DataError(f"CPSRanker: alpha={self.alpha}, max_iter={self.max_iter}; give 0 or more, and 1 or more")
        lists = feature_lists(data.X, data.offsets)
        scale = float(lists.group.max())
        weights = (data.query_weight, data.sample_weight)
        objective = stagewise_objective(lists, data.labels, self.alpha, scale, *weights, n_jobs=self.n_jobs)

        def stop(scaled: np.ndarray) -> bool:
            return monitor.keep(StagewiseScorer(scaled / scale))

        start = np.zeros(data.n_features)
        with monitor.training(self.max_iter, "CPSRanker · L-BFGS"):
            quasi_newton(objective, start, stop, maxiter=self.max_iter, ftol=self.tol)
        self.scorer_ = monitor.best or StagewiseScorer(start)
