"""Support vector machine that separates relevant documents from others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.data.parts import all_rows, counted, parts, per_row, rows_where
from plackett.rankers.base import Ranker
from plackett.rankers.binary_labels import check_relevance
from plackett.scorers.linear import LinearScorer
from plackett.solvers.hinge_dual import minimise_hinge
from plackett.solvers.monitor import Monitor

__all__ = ["PointwiseSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class PointwiseSVM(Ranker):
    r"""Binary support vector machine for ranking: all queries pooled, relevant documents against the others,

    .. math:: \min_v \tfrac12 \lVert v \rVert^2 + C \sum_j w_j \max(0, 1 - a_j\,v \cdot x_j), \qquad a_j = \pm 1

    and ranked by v · x. Solved in the dual by coordinate descent. With a kernel: `KernelSVM`.

    Parameters
    ----------
    C
        Penalty for a document inside the margin. With a large C on large data there is hardly any regularisation, and
        the solver may not converge; a warning then says so.
    rel
        The lowest label that counts as relevant.
    balance
        Give the relevant documents together the same weight as the others. They are few, and otherwise the hinge loss
        is small even if every document is classified as irrelevant.
    fit_intercept
        Add a constant feature; its weight is penalised like the others.
    standardize
        Divide each feature by its standard deviation while training.
    tol, max_iter
        Violation of the optimality conditions at which to stop, and maximum number of passes over the data.

    Examples
    --------
    >>> ranker = PointwiseSVM().fit([[0.0], [1.0], [2.0], [1.5]], [0, 0, 1, 1], qid=[1, 1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Nallapati: Discriminative models for information retrieval. SIGIR 2004.
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None  # `max_iter` is an upper bound that training rarely reaches
    search_space: ClassVar[SearchSpace] = {"C": Real(1e-5, 0.1, log=True)}

    C: float = 0.01
    rel: float = 1.0
    balance: bool = True
    fit_intercept: bool = True
    standardize: bool = True
    tol: float = 1e-3
    max_iter: int = 10_000

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        check_relevance(data, self.rel)
        if not (0 < self.C < np.inf and 0 < self.tol < np.inf):
            raise DataError(f"C={self.C}, tol={self.tol}; give positive numbers")
        rows = rows_where(data, counted)
        scale = feature_scale(data.X, weight_of_rows(data), self.standardize)
        side = per_row(data, lambda part: np.where(part.labels >= self.rel, 1.0, -1.0))
        weights, closed = np.zeros(data.n_features + 1), True
        with monitor.training(1, "SVM"):
            cost = self._cost(data)
            if cost is not None:
                weights, closed = minimise_hinge(
                    data.X,
                    scale,
                    all_rows(data) if rows is None else rows,
                    side,
                    cost,
                    constant=float(self.fit_intercept),
                    tol=self.tol,
                    max_iter=self.max_iter,
                    seed=int(np.random.default_rng(self.random_state).integers(2**31)),
                )
            self.scorer_ = LinearScorer((weights[:-1] / scale)[:, None], weights[-1:].copy())
            monitor.keep(self.scorer_)
        if not closed:
            warnings.warn(
                f"PointwiseSVM did not converge in max_iter={self.max_iter} passes; use a smaller C, or more passes",
                PlackettWarning,
                stacklevel=2,
            )

    def _cost(self, data: RankingDataset) -> np.ndarray | None:
        """Penalty of each document; None if all that count are on one side."""
        weight = per_row(data, lambda part: part.row_weight * counted(part))
        total: np.ndarray = np.zeros(2)
        for lo, hi, part in parts(data):
            own = weight[data.offsets[lo] : data.offsets[hi]]
            # both running sums first: added up in the order of the rows, whatever the blocks
            total = np.bincount(np.append([0, 1], part.labels >= self.rel), np.append(total, own), 2)
        if not total.all():
            return None
        factor = self.C * (total.sum() / (2.0 * total) if self.balance else np.ones(2))
        for lo, hi, part in parts(data):
            weight[data.offsets[lo] : data.offsets[hi]] *= factor[(part.labels >= self.rel).astype(np.int64)]
        return weight
