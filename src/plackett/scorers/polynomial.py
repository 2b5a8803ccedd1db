"""A model of products of features."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np

from plackett.data.mapped import query_blocks, row_array, row_blocks
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import inner, number

__all__ = ["PolynomialScorer"]

#: Rows whose products are computed at a time.
_ROWS = 2_048


@dataclass(frozen=True)
class PolynomialScorer(Scorer):
    """A model that scores the products of up to ``degree`` features.

    Parameters
    ----------
    products
        The model.
    n_features, degree
        Number of features of a document, and of factors.
    interaction_only
        Whether powers of a single feature are left out.
    """

    kind: ClassVar[str] = "polynomial"
    products: Scorer = inner()
    n_features: int = number(least=1)
    degree: int = number(least=1, most=100)
    interaction_only: bool = number(bool)

    not_exportable: ClassVar[str] = "expands its features, which cannot be exported"  # type: ignore[assignment]

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.n_features)

    @property
    def model(self) -> Scorer:
        """The model of the products."""
        return self.products

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        if X.shape[0] <= _ROWS:
            return self.products.predict(self.expanded(X), offsets, n_jobs)
        parts = []
        for lo, hi in query_blocks(offsets, _ROWS):
            first, last = int(offsets[lo]), int(offsets[hi])
            table = self.expanded(X[first:last])
            parts.append(self.products.predict(table, offsets[lo : hi + 1] - first, n_jobs))
        return np.concatenate(parts)

    def expanded(self, X: Any) -> Any:
        """The products."""
        return expanded(X, self.degree, self.interaction_only)

    def check(self) -> None:
        """The model has as many features as there are products."""
        d, size = self.n_features, self.products.size
        few = d <= 10**6 and self.degree <= 100
        expected = -1
        if few and self.interaction_only:
            expected = sum(comb(d, factors) for factors in range(1, self.degree + 1))
        elif few:
            expected = comb(d + self.degree, self.degree) - 1
        fits = size is not None and size.n_outputs == 1 and size.n_features == expected
        self.check_that(fits, f"its model does not have {expected} products of {d} features")


def expanded(X: Any, degree: int, interaction_only: bool) -> Any:
    """Products of up to ``degree`` columns of a table, sparse where it is."""
    if isinstance(X, np.ndarray):
        width = _products(X[:1], degree, interaction_only).shape[1]
        table = row_array(X, (X.shape[0], width), np.float32)
        for rows in row_blocks(X.shape[0], _ROWS):
            table[rows] = _products(X[rows], degree, interaction_only)
        return table
    from sklearn.preprocessing import PolynomialFeatures

    expand = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False)
    return expand.fit_transform(X).tocsr()


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
