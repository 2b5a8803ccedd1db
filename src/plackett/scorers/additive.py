"""Scores that are sums of one function per feature: steps, a slope, and a value where the feature is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dense import dense
from plackett.scorers.base import Contributions, Importance, Scorer, Size
from plackett.scorers.fields import array
from plackett.scorers.parts import Line, Part, Steps

__all__ = ["AdditiveScorer"]

_BLOCK_ROWS = 4096
#: Up to this many edges are compared one by one in vector registers, which is faster than bisection.
_COUNTED = 16
#: Rows that importance looks at, at most.
_IMPORTANCE_ROWS = 10_000


class FeatureFunction(NamedTuple):
    """What one feature adds to the score: ``values[number of edges below x] + slope * x``, ``missing`` for NaN."""

    edges: np.ndarray
    values: np.ndarray
    slope: float
    missing: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """What it adds for each value of the feature."""
        values = self.values[np.searchsorted(self.edges, x, side="left")]
        return np.where(np.isnan(x), self.missing, values + (self.slope * x if self.slope else 0.0))


@dataclass(frozen=True)
class AdditiveScorer(Scorer):
    r"""Scores :math:`\sum_j g_j(x_j)` with one function per feature, piecewise constant plus linear.

    Parameters
    ----------
    n_features
        Number of features of the documents, an array of one number.
    features
        The features that count, ascending.
    first
        The k-th of them has the edges ``edges[first[k]:first[k + 1]]`` and one value more than edges,
        ``values[first[k] + k:first[k + 1] + k + 1]``.
    edges, values
        Where the functions jump, ascending for each feature (a document lies beyond an edge if its value is larger),
        and the values before the first edge, between the first and the second, …
    slopes, missing
        The linear part of each feature, and the value used instead if the feature is NaN.

    Examples
    --------
    >>> scorer = AdditiveTerms().step(1, 0.5, 2.0).step(1, 1.5, -3.0).step(0, 0.0, 1.0, missing=1.0).scorer(2)
    >>> X = np.array([[0, 0], [1, 1], [np.nan, 2]], np.float32)
    >>> scorer.predict(X, np.array([0, 3])).tolist()
    [0.0, 3.0, 0.0]
    >>> scorer.function(1).values.tolist()
    [0.0, 2.0, -1.0]
    """

    kind: ClassVar[str] = "additive"
    cheap: ClassVar[bool] = True
    n_features: np.ndarray = array("1", np.int64)
    features: np.ndarray = array("used", np.int64, least=0)
    first: np.ndarray = array("used+1", np.int64)
    edges: np.ndarray = array("edges", np.float32)
    values: np.ndarray = array("values")
    slopes: np.ndarray = array("used")
    missing: np.ndarray = array("used")

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", int(self.n_features[0]))

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; it does not depend on the other rows."""
        if X.shape[1] != self.n_features[0]:
            raise DataError(f"a table of {X.shape[1]} features for a scorer of {self.n_features[0]}")
        columns, table = self.features, X
        if not isinstance(X, np.ndarray):  # of a sparse table only the features that count are unfolded
            columns, table = np.arange(self.features.size), X[:, self.features].toarray()
        table = np.ascontiguousarray(table, np.float32)
        scores = np.empty(X.shape[0])
        blocks = np.append(np.arange(0, X.shape[0], _BLOCK_ROWS), X.shape[0])
        functions = (self.first, self.edges, self.values, self.slopes, self.missing)
        over_queries(_predict, blocks, table, columns, *functions, scores, n_jobs=n_jobs)
        return scores

    def function(self, feature: int) -> FeatureFunction:
        """What a feature adds to the score; a feature that does not count adds 0."""
        k = int(np.searchsorted(self.features, feature))
        if k == self.features.size or self.features[k] != feature:
            return FeatureFunction(np.empty(0, np.float32), np.zeros(1), 0.0, 0.0)
        a, b = self.first[k], self.first[k + 1]
        return FeatureFunction(
            self.edges[a:b], self.values[a + k : b + k + 1], float(self.slopes[k]), float(self.missing[k])
        )

    def used_features(self, n_features: int) -> np.ndarray:
        """The features with a function."""
        return np.isin(np.arange(n_features), self.features)

    def relative_contributions(self, X: np.ndarray, background: np.ndarray) -> Contributions:
        """The function of each feature minus its mean over the background."""
        parts = np.zeros(X.shape)
        base = 0.0
        for j in self.features.tolist():
            function = self.function(j)
            mean = float(function(background[:, j]).mean())
            parts[:, j] = function(X[:, j]) - mean
            base += mean
        return Contributions(parts, base, "additive")

    def importance(self, X: Any) -> Importance:
        """Standard deviation of the function of each feature."""
        rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _IMPORTANCE_ROWS)).astype(np.int64)
        some = dense(X[rows])
        values = self.relative_contributions(some, some).values
        return Importance(values.std(axis=0), "standard deviation of its function")

    def export_parts(self) -> list[tuple[float, Part]]:
        """The steps of each feature; slopes are a linear part."""
        features = tuple(self.features.tolist())
        parts: list[tuple[float, Part]] = [(1.0, Steps(features, tuple(self.function(j) for j in features)))]
        if self.slopes.any():
            weights = np.zeros(int(self.n_features[0]))
            weights[self.features] = self.slopes
            parts.append((1.0, Line(weights, 0.0)))
        return parts

    def check(self) -> None:
        """The arrays form functions of features that are there: edges ascend for each of them."""
        fits = self.values.size == self.edges.size + self.features.size
        self.check_that(fits and offsets_fit(self.first, self.edges.size), "its values or edges do not form functions")
        inner = np.ones(max(self.edges.size - 1, 0), bool)  # edges ascend, but not from one feature to the next
        inner[self.first[(self.first > 0) & (self.first < self.edges.size)] - 1] = False
        bounds = np.concatenate(([-1], self.features, self.n_features))
        ascend = (bounds[1:] > bounds[:-1]).all() and (np.diff(self.edges)[inner] > 0).all()
        self.check_that(bool(ascend), "its features or edges do not ascend")


class AdditiveTerms:
    """Collects weighted functions of single features, in any order, and sums them into a scorer."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, float, float]] = []
        self._parts: list[tuple[int, float, float, float]] = []

    def step(self, feature: int, threshold: float, height: float, missing: float = 0.0) -> AdditiveTerms:
        """Add ``height`` where the feature is above the threshold (−∞: wherever it is known)."""
        if threshold == -np.inf:
            return self.line(feature, height, 0.0, missing)
        self._steps.append((feature, threshold, height))
        return self.line(feature, 0.0, 0.0, missing)

    def line(self, feature: int, level: float, slope: float, missing: float = 0.0) -> AdditiveTerms:
        """Add ``level + slope * x`` where the feature is known, ``missing`` where it is NaN."""
        self._parts.append((feature, level, slope, missing))
        return self

    def scorer(self, n_features: int) -> AdditiveScorer:
        """The scorer of all terms added so far."""
        parts = np.array(self._parts, np.float64).reshape(-1, 4)
        features, slot = np.unique(parts[:, 0].astype(np.int64), return_inverse=True)
        level, slopes, missing = (np.bincount(slot, parts[:, c], features.size) for c in (1, 2, 3))
        steps = np.array(self._steps, np.float64).reshape(-1, 3)
        rank = np.searchsorted(features, steps[:, 0].astype(np.int64))
        keys, which = np.unique(np.stack([rank, steps[:, 1]], axis=1), axis=0, return_inverse=True)
        heights = np.bincount(which.ravel(), steps[:, 2], keys.shape[0])
        first = np.searchsorted(keys[:, 0], np.arange(features.size + 1))
        values = [level[k] + np.append(0.0, np.cumsum(heights[first[k] : first[k + 1]])) for k in range(features.size)]
        return AdditiveScorer(
            np.array([n_features]),
            features,
            first,
            keys[:, 1].astype(np.float32),
            np.concatenate(values) if values else np.empty(0),
            slopes,
            missing,
        )


@kernel
def _predict(lo, hi, blocks, X, features, first, edges, values, slopes, missing, scores):
    for i in range(blocks[lo], blocks[hi]):
        total = 0.0
        for k in range(features.size):
            x = X[i, features[k]]
            if np.isnan(x):
                total += missing[k]
                continue
            low = first[k]
            high = first[k + 1]
            while high - low > _COUNTED:
                middle = (low + high) >> 1
                if edges[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            beyond = low
            for e in range(low, high):
                beyond += 1 if edges[e] < x else 0
            total += values[beyond + k] + slopes[k] * x
        scores[i] = total
