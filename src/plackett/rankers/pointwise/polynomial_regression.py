"""Regression on products of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks, row_array, row_blocks
from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.solvers.monitor import Monitor

__all__ = ["PolynomialRegression"]

#: Rows whose products are computed at a time.
_ROWS = 2_048


@dataclass(kw_only=True, eq=False, repr=False)
class PolynomialRegression(GradientTrained, Linear):
    r"""Polynomial retrieval function: least squares on all products of up to ``degree`` features.

    d features become :math:`\binom{d + g}{g} - 1` products of degree g: choose few features or degree 2.

    Parameters
    ----------
    alpha
        Strength of the penalty, 1000 by default: a few thousand products need a strong one. Chosen on validation
        queries of several small sets (see "Defaults on small data" in the guide to rankers).
    degree
        Largest number of factors; 1 is `LinearRegression`.
    interaction_only
        Leave out powers of a single feature.
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> ranker = PolynomialRegression().fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [4, 1, 0, 1, 4], qid=[1] * 5)
    >>> ranker.rank([[-3.0], [0.5], [1.5]], qid=[2, 2, 2])
    array([1, 3, 2])

    References
    ----------
    Fuhr: Optimum polynomial retrieval functions based on the probability ranking principle. TOIS 1989.
    """

    #: With a few thousand products the penalty must be strong: around 100 was best on LETOR validation data.
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1.0, 1e4, log=True)}
    sums_features: ClassVar[bool] = False  # products of features

    alpha: float = 1000.0
    degree: int = 2
    interaction_only: bool = False
    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if monitor.valid is not None:
            monitor.valid = self._expanded(monitor.valid)
        super()._fit(self._expanded(data), monitor)

    def score_rows(self, data: RankingDataset) -> np.ndarray:
        """Score of each row of a dataset, in its order."""
        score = super().score_rows
        if data.n_rows <= _ROWS:
            return score(self._expanded(data))
        parts = (data.select(np.arange(lo, hi)) for lo, hi in query_blocks(data.offsets, _ROWS))
        return np.concatenate([score(self._expanded(part)) for part in parts])

    def _scored_features(self) -> None:
        """The scorer gets products of features."""

    def _expanded(self, data: RankingDataset) -> RankingDataset:
        if self.degree < 1:
            raise DataError(f"degree={self.degree}; give 1 or more")
        if isinstance(data.X, np.ndarray):
            width = _products(data.X[:1], self.degree, self.interaction_only).shape[1]
            table = row_array(data.X, (data.n_rows, width), np.float32)
            for rows in row_blocks(data.n_rows, _ROWS):
                table[rows] = _products(data.X[rows], self.degree, self.interaction_only)
            return data.replace(X=table, feature_names=None)
        from sklearn.preprocessing import PolynomialFeatures

        expand = PolynomialFeatures(self.degree, interaction_only=self.interaction_only, include_bias=False)
        return data.replace(X=expand.fit_transform(data.X).tocsr(), feature_names=None)


def _products(X: np.ndarray, degree: int, interaction_only: bool) -> np.ndarray:
    """Products of up to ``degree`` columns, in the order and with the rounding of scikit-learn's `PolynomialFeatures`.

    >>> _products(np.array([[2, 3]], np.float32), 2, False).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    n = X.shape[1]
    blocks = [X]
    last, first = X, np.arange(n)  # the products of one factor less, and the column of the first factor of each
    for _ in range(degree - 1):
        rest = [np.flatnonzero(first > j if interaction_only else first >= j) for j in range(n)]
        first = np.repeat(np.arange(n), [columns.size for columns in rest])
        last = np.hstack([last[:, columns] * X[:, [j]] for j, columns in enumerate(rest)])
        blocks.append(last)
    return np.hstack(blocks)
