"""The coset-permutation stagewise model as a ranker: features are lists that are aggregated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett.aggregation.cps import CPS, stagewise_objective
from plackett.aggregation.lists import RankLists
from plackett.data.dataset import RankingDataset
from plackett.models.base import Monitor
from plackett.models.search_space import Real, SearchSpace
from plackett.rankers.base import Ranker

__all__ = ["CPSRanker", "StagewiseScorer"]


class StagewiseScorer:
    """Documents of each query in the order in which the stages choose them: n for the first, then n − 1, …"""

    kind: ClassVar[str] = "stagewise"
    list_aware: ClassVar[bool] = True

    def __init__(self, theta: np.ndarray) -> None:
        self.theta = theta

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; 0 for all where no list counts."""
        if not self.theta.any():
            return np.zeros(X.shape[0])
        return CPS(weights=tuple(self.theta)).scores(_lists(X, offsets), n_jobs=n_jobs)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The weights of the lists."""
        return {"theta": self.theta}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The scorer that `to_arrays` wrote."""
        theta = np.array(arrays["theta"], np.float64)
        if theta.ndim != 1 or not np.isfinite(theta).all():
            raise DataError(f"the weights of a stagewise model must be finite numbers, got shape {theta.shape}")
        return cls(theta)


@dataclass(kw_only=True, eq=False, repr=False)
class CPSRanker(Ranker):
    r"""Coset-permutation distance based stagewise model: every feature ranks the documents, and the lists are weighed.

    The supervised rank aggregation of `plackett.aggregation.CPS`, with each feature as a list: larger values rank
    higher (of a feature that holds ranks the weight comes out negative), NaN is a document that the list lacks, which
    then stands below the others. Only the order inside each feature counts, so features need no scaling.
    ``sample_weight`` weighs the choice of a document at its stage.

    Parameters
    ----------
    alpha
        Strength of the L2 penalty on the weights.
    max_iter, tol
        Most iterations of L-BFGS, and the relative change of the objective at which to end.

    Examples
    --------
    >>> ranker = CPSRanker().fit([[3.0, 1.0], [1.0, 2.0], [0.5, 3.0]] * 2, [2, 1, 0] * 2, qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.predict([[10.0, 0.0], [20.0, 0.0]], qid=[1, 1]).tolist()
    [1.0, 2.0]

    References
    ----------
    Qin, Geng, Liu: A new probabilistic model for rank aggregation. NIPS 2010.
    """

    _ids: ClassVar[tuple[str, ...]] = ("aggregate.cps",)
    paper: ClassVar[str] = "Qin, Geng, Liu 2010"
    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}

    alpha: float = 1e-3
    max_iter: int = 300
    tol: float = 1e-9

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        from scipy.optimize import minimize

        if not (self.alpha >= 0 and self.max_iter >= 1):
            raise DataError(f"CPSRanker: alpha={self.alpha}, max_iter={self.max_iter}; give 0 or more, and 1 or more")
        lists = _lists(data.X, data.offsets)
        scale = float(lists.group.max())
        weights = (data.query_weight, data.sample_weight)
        objective = stagewise_objective(lists, data.labels, self.alpha, scale, *weights, n_jobs=self.n_jobs)

        def callback(scaled: np.ndarray) -> None:
            current = StagewiseScorer(scaled / scale)
            before = monitor.best_round
            valid = monitor.valid
            stop = monitor.update(None if valid is None else current.predict(valid.X, valid.offsets, self.n_jobs))
            if valid is None or monitor.best_round != before:
                self.scorer_ = current
            if stop:
                raise StopIteration

        start = np.zeros(data.n_features)
        self.scorer_ = StagewiseScorer(start)
        options = {"maxiter": self.max_iter, "ftol": self.tol}
        with monitor.training(self.max_iter, "CPSRanker · L-BFGS"):
            minimize(objective, start, jac=True, method="L-BFGS-B", callback=callback, options=options)


def _lists(X: Any, offsets: np.ndarray) -> RankLists:
    values = np.array(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)
    names = tuple(str(i) for i in range(values.shape[1]))
    return RankLists(values, np.array(offsets, np.int64), np.arange(offsets.size - 1), None, names)
