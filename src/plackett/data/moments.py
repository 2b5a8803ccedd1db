"""Means and deviations of features, in one pass over blocks of rows, and merged over parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.parts import per_row

#: Total weight, means, and sums of squared distances from them.
Moments = tuple[float, np.ndarray, np.ndarray]

_SPREAD_ROWS = 4096


def spread(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """Weighted standard deviation of each feature, 1 for constant ones; with None all documents weigh the same."""
    return deviation(*moments(X, weight))


def feature_scale(X: Any, weight: np.ndarray | None, standardize: bool) -> np.ndarray:
    """By what each feature is divided before training: its `spread`, or 1 without standardising."""
    return spread(X, weight) if standardize else np.ones(X.shape[1])


def deviation_within_lists(values: np.ndarray, data: RankingDataset) -> float:
    """Standard deviation of the values of documents around the mean of their list."""
    if not data.n_rows:
        return 0.0
    mean = np.bincount(data.query_of_row, values, data.n_queries) / np.maximum(data.group, 1)
    return float(np.sqrt(np.mean((values - mean[data.query_of_row]) ** 2)))


def weight_of_rows(data: RankingDataset) -> np.ndarray | None:
    """The weight of each row, None where all weigh 1; on the disk if the features are."""
    if data.query_weight is None:
        return data.sample_weight
    return per_row(data, lambda part: part.row_weight)


def deviation(total: float, mean: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Standard deviation from the `moments`, 1 for constant features."""
    spread = np.sqrt(np.maximum(square, 0.0) / total)
    # the spread of a constant column is rounding noise
    return np.where(spread > 1e-7 * np.abs(mean), spread, 1.0)


def moments(X: Any, weight: np.ndarray | None) -> tuple[float, np.ndarray, np.ndarray]:
    """Total weight; mean of each feature, and the sum of squared distances from it. Without weights all rows weigh 1.

    One pass over blocks of rows, whose moments are merged (Chan, Golub, LeVeque 1979).
    """
    total, mean, square = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, X.shape[0], _SPREAD_ROWS):
        rows = slice(start, start + _SPREAD_ROWS)
        part = X[rows].astype(np.float64)  # a block, as it is converted
        own = np.ones(part.shape[0]) if weight is None else weight[rows]
        n = float(own.sum())
        if n <= 0.0:
            continue
        if isinstance(part, np.ndarray):
            middle = own @ part / n
            part -= middle
            part *= part
            around = own @ part
        else:
            stored, at = np.repeat(own, np.diff(part.indptr)), part.indices
            middle = np.bincount(at, stored * part.data, mean.size) / n
            around = np.bincount(at, stored * (part.data - middle[at]) ** 2, mean.size).astype(np.float64)
            around += (n - np.bincount(at, stored, mean.size)) * middle**2  # what is not stored is 0
        total, mean, square = merged_moments((total, mean, square), (n, middle, around))
    return max(total, np.finfo(float).tiny), mean, square


def merged_moments(a: Moments, b: Moments) -> Moments:
    """The moments of two parts together."""
    total = a[0] + b[0]
    distance, share = b[1] - a[1], b[0] / total
    return total, a[1] + share * distance, a[2] + b[2] + a[0] * share * distance**2
