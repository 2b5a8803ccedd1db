"""Staged logistic regression: one regression per feature group, then one on their sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array, row_blocks
from plackett.losses.pointwise.binary_logistic import BinaryLogistic
from plackett.models.linear import Linear
from plackett.rankers.base import Ranker
from plackett.rankers.binary_labels import check_relevance
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["StagedLogistic"]


@dataclass(kw_only=True, eq=False, repr=False)
class StagedLogistic(Ranker):
    r"""Staged logistic regression: log-odds :math:`z_g = b_g + v_g \cdot x_g` from each group of features alone, then
    :math:`c_0 + c_1 \sum_g z_g` by a second regression, which corrects for evidence that was counted twice.

    Few parameters are fitted at a time, which is robust with many features and few labels.

    Parameters
    ----------
    groups
        Feature indices of each group, such as the features of one query term; None makes every feature its own group.
        One group of all features is `LogisticRegression`.
    rel
        The lowest label that counts as relevant.
    alpha, max_iter, tol, standardize
        As in the linear model: strength of the L2 penalty, limits of the solver, and whether to scale the features.

    Examples
    --------
    >>> ranker = StagedLogistic().fit([[0.0], [1.0], [2.0], [1.5]], [0, 0, 1, 1], qid=[1, 1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cooper, Gey, Dabney: Probabilistic retrieval based on staged logistic regression. SIGIR 1992.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    groups: Sequence[Sequence[int]] | None = None
    rel: float = 1.0
    alpha: float = 1e-4
    max_iter: int = 300
    tol: float = 1e-6
    standardize: bool = True

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds are those of the last stage alone, and `max_iter` is that of all: they run in full."""
        return {}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        check_relevance(data, self.rel)
        model = Linear(
            alpha=self.alpha, max_iter=self.max_iter, tol=self.tol, standardize=self.standardize, n_jobs=self.n_jobs
        )
        loss = BinaryLogistic(rel=self.rel)
        weights, intercept = np.zeros((data.n_features, 1)), np.zeros(1)
        for group in self._groups(data.n_features):
            part = model.train(loss, _with_columns(data, partial(_columns, group), len(group)), SilentMonitor())
            weights[group] += part.weights
            intercept += part.intercept
        evidence = LinearScorer(weights, intercept)

        def total(X: Any) -> np.ndarray:
            return evidence.predict(X, np.array([0, X.shape[0]]), self.n_jobs)[:, None]

        if monitor.valid is not None:
            monitor.valid = _with_columns(monitor.valid, total, 1)
        last = model.train(loss, _with_columns(data, total, 1), monitor)
        factor = last.weights[0, 0]
        self.scorer_ = LinearScorer(factor * weights, factor * intercept + last.intercept)

    def _groups(self, n_features: int) -> list[list[int]]:
        if self.groups is None:
            return [[j] for j in range(n_features)]
        groups = [[int(j) for j in group] for group in self.groups]
        for group in groups:
            for j in group:
                if not 0 <= j < n_features:
                    raise ValueError(f"groups contains feature {j}, but X has {n_features} features")
        return groups


def _columns(features: list[int], X: Any) -> Any:
    return X[:, features]


def _with_columns(data: RankingDataset, columns: Callable[[Any], Any], n: int) -> RankingDataset:
    """The dataset with other features, n of them, which a function computes from some rows of its own."""
    if not isinstance(data.X, np.ndarray):
        X = columns(data.X)
        return data.replace(X=np.asarray(X, np.float32) if isinstance(X, np.ndarray) else X, feature_names=None)
    table = row_array(data.X, (data.n_rows, n), np.float32)
    for rows in row_blocks(data.n_rows):
        table[rows] = columns(data.X[rows])
    return data.replace(X=table, feature_names=None)
