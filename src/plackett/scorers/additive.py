"""Scores that are sums of one function per feature: steps, a slope, and a value where the feature is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel, over_queries
from plackett.scorers.base import Size

__all__ = ["AdditiveScorer"]

_BLOCK_ROWS = 4096
#: Up to this many edges are compared one by one in vector registers, which is faster than bisection.
_COUNTED = 16


class FeatureFunction(NamedTuple):
    """What one feature adds to the score: ``values[number of edges below x] + slope * x``, ``missing`` for NaN."""

    edges: np.ndarray
    values: np.ndarray
    slope: float
    missing: float


@dataclass(frozen=True)
class AdditiveScorer:
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
    list_aware: ClassVar[bool] = False
    n_features: np.ndarray
    features: np.ndarray
    first: np.ndarray
    edges: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    missing: np.ndarray

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> AdditiveScorer:
        """The scorer that `to_arrays` wrote."""
        try:
            scorer = cls(**{name: np.array(arrays[name], dtype) for name, dtype in _ARRAYS.items()})
        except (KeyError, ValueError) as error:
            raise DataError(f"the additive model is damaged ({error})") from None
        n = scorer.features.size
        sizes = {"n_features": 1, "first": n + 1, "slopes": n, "missing": n, "values": scorer.edges.size + n}
        for name, size in sizes.items():
            if getattr(scorer, name).shape != (size,):
                raise DataError(f"the additive model is damaged ({name} has shape {getattr(scorer, name).shape})")
        inner = np.ones(max(scorer.edges.size - 1, 0), bool)  # edges ascend, but not from one feature to the next
        inner[scorer.first[(scorer.first > 0) & (scorer.first < scorer.edges.size)] - 1] = False
        bounds = np.concatenate(([-1], scorer.features, scorer.n_features))
        if (
            scorer.edges.ndim != 1
            or (bounds[1:] <= bounds[:-1]).any()  # a difference might overflow
            or not offsets_fit(scorer.first, scorer.edges.size)
            or not (np.diff(scorer.edges)[inner] > 0).all()
            or not all(np.isfinite(getattr(scorer, name)).all() for name in ("edges", "values", "slopes", "missing"))
        ):
            raise DataError("the additive model is damaged (its features, edges or values do not form functions)")
        return scorer


_ARRAYS: dict[str, Any] = {
    "n_features": np.int64,
    "features": np.int64,
    "first": np.int64,
    "edges": np.float32,
    "values": np.float64,
    "slopes": np.float64,
    "missing": np.float64,
}


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
