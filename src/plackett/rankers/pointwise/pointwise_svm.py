"""Support vector machine that separates relevant documents from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.models.linear import spread
from plackett.models.search_space import Real, SearchSpace
from plackett.rankers.base import Ranker
from plackett.rankers.binary_labels import balanced, check_relevance
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor

__all__ = ["PointwiseSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class PointwiseSVM(Ranker):
    r"""Binary support vector machine for ranking: all queries pooled, relevant documents against the others,

    .. math:: \min_v \tfrac12 \lVert v \rVert^2 + C \sum_j w_j \max(0, 1 - a_j\,v \cdot x_j), \qquad a_j = \pm 1

    and ranked by v · x. Solved in the dual by coordinate descent (LIBLINEAR, through scikit-learn). With a
    kernel: `KernelSVM`.

    Parameters
    ----------
    C
        Penalty for a document inside the margin. With a large C on large data there is hardly any regularisation, and
        the solver may not converge; scikit-learn then warns.
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

    _ids: ClassVar[tuple[str, ...]] = ("pointwise.svm",)
    paper: ClassVar[str] = "Nallapati 2004"
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
        from sklearn.svm import LinearSVC

        weight = data.row_weight
        counts = (data.labels >= 0) & (weight > 0)
        side = np.where(data.labels[counts] >= self.rel, 1, -1)
        scale = spread(data.X, weight, self.n_jobs) if self.standardize else np.ones(data.n_features)
        weights, intercept = np.zeros(data.n_features), 0.0
        with monitor.training(1, "SVM"):
            if np.unique(side).size == 2:
                machine = LinearSVC(
                    loss="hinge",
                    C=self.C,
                    fit_intercept=self.fit_intercept,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    random_state=np.random.default_rng(self.random_state).integers(2**31),
                )
                machine.fit(
                    _scaled(data.X[counts], scale),
                    side,
                    sample_weight=balanced(weight[counts], side) if self.balance else weight[counts],
                )
                weights, intercept = machine.coef_[0] / scale, float(np.ravel(machine.intercept_)[0])
            self.scorer_ = LinearScorer(weights[:, None].astype(np.float64), np.array([intercept], np.float64))
            monitor.keep(self.scorer_)


def _scaled(X, scale):  # type: ignore[no-untyped-def]
    """Features in float64, divided by their scales."""
    if isinstance(X, np.ndarray):
        return X / scale
    return X.astype(np.float64).multiply(1.0 / scale).tocsr()
