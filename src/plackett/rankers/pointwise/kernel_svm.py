"""Kernel support vector machine that separates relevant documents from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.moments import feature_scale
from plackett.rankers.base import Ranker
from plackett.rankers.binary_labels import balanced, check_relevance
from plackett.scorers.kernel import KERNELS, KernelScorer
from plackett.solvers.monitor import Monitor

__all__ = ["KernelSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelSVM(Ranker):
    r"""Binary support vector machine in the dual: scores :math:`b + \sum_j \alpha_j a_j\,k(x, x_j)`, 0 ≤ α ≤ C.

    All queries pooled, relevant documents (a = 1) against the others (a = −1). Training (LIBSVM, through scikit-learn)
    takes time and memory that grow faster than the square of the number of documents: for thousands, not millions;
    for more use `PointwiseSVM`, its linear form.

    Parameters
    ----------
    kernel
        ``"rbf"``, exp(−γ |x − z|²); ``"poly"``, (γ x·z + c)^degree; ``"linear"``, x·z.
    C
        Penalty for a document inside the margin.
    gamma
        γ of the kernel; None uses 1 / number of features.
    coef0, degree
        c and the degree of the kernel.
    rel
        The lowest label that counts as relevant.
    balance
        Give the relevant documents together the same weight as the others. They are few, and otherwise the hinge loss
        is small even if every document is classified as irrelevant.
    standardize
        Divide each feature by its standard deviation.
    tol
        Violation of the optimality conditions at which to stop.

    Examples
    --------
    >>> ranker = KernelSVM().fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [1, 0, 0, 0, 1], qid=[1] * 5)
    >>> ranker.rank([[-2.0], [0.5], [1.9]], qid=[2, 2, 2])
    array([1, 3, 2])

    References
    ----------
    Nallapati: Discriminative models for information retrieval. SIGIR 2004.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"C": Real(1e-3, 10.0, log=True), "gamma": Real(1e-3, 1.0, log=True)}

    kernel: str = "rbf"
    C: float = 1.0
    gamma: float | None = None
    coef0: float = 0.0
    degree: int = 3
    rel: float = 1.0
    balance: bool = True
    standardize: bool = True
    tol: float = 1e-4

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        from sklearn.svm import SVC

        choice("kernel", self.kernel, KERNELS)
        if not (0 < self.C < np.inf and 0 < self.tol < np.inf):
            raise DataError(f"C={self.C}, tol={self.tol}; give positive numbers")
        check_relevance(data, self.rel)
        weight = data.row_weight
        counts = (data.labels >= 0) & (weight > 0)
        side = np.where(data.labels[counts] >= self.rel, 1, -1)
        scale = feature_scale(data.X, weight, self.standardize)
        gamma = 1.0 / data.n_features if self.gamma is None else self.gamma
        support, weights, intercept = np.empty((0, data.n_features)), np.empty(0), 0.0
        with monitor.training(1, "SVM"):
            if np.unique(side).size == 2:
                X = data.X[counts]
                X = dense(X) / scale
                machine = SVC(
                    C=self.C, kernel=self.kernel, gamma=gamma, coef0=self.coef0, degree=self.degree, tol=self.tol
                )
                machine.fit(X, side, sample_weight=balanced(weight[counts], side) if self.balance else weight[counts])
                support, weights = machine.support_vectors_, machine.dual_coef_[0]
                intercept = float(machine.intercept_[0])
            numbers = np.array([intercept, gamma, self.coef0, self.degree], np.float64)
            self.scorer_ = KernelScorer(self.kernel, support, weights, scale, numbers)
            monitor.keep(self.scorer_)
