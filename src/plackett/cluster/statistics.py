"""Statistics of the features over shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.cluster.shards import Shards
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense

__all__ = ["feature_statistics"]

#: Rows read at once.
_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """Number of values, missing values, mean, standard deviation, least and largest value of each feature."""

    count: np.ndarray
    missing: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    least: np.ndarray
    largest: np.ndarray


def feature_statistics(shards: Shards) -> FeatureStatistics:
    """Describe each feature over all shards, in two passes: means first, then the distances from them.

    Missing values (NaN) are counted and left out of the rest.

    Examples
    --------
    >>> from plackett.cluster.serial import SerialShards
    >>> data = RankingDataset.from_arrays([[1.0], [2.0], [6.0]], [0, 1, 2], qid=[1, 2, 3])
    >>> feature_statistics(SerialShards(data, 2)).mean.tolist()
    [3.0]
    """
    count, missing, total = shards.sum(_totals)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
    square = shards.sum(_squares, mean)
    ends = shards.gather(_ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = np.sqrt(square / count)
    least = np.fmin.reduce([low for low, _ in ends])
    largest = np.fmax.reduce([high for _, high in ends])
    return FeatureStatistics(count, missing, mean, deviation, least, largest)


def _blocks(shard: RankingDataset) -> Any:
    for start in range(0, shard.n_rows, _ROWS):
        yield dense(shard.X[start : start + _ROWS]).astype(np.float64)


def _totals(shard: RankingDataset, _: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count, missing, total = (np.zeros(shard.n_features) for _ in range(3))
    for X in _blocks(shard):
        absent = np.isnan(X)
        missing += absent.sum(axis=0)
        count += (~absent).sum(axis=0)
        total += np.where(absent, 0.0, X).sum(axis=0)
    return count, missing, total


def _squares(shard: RankingDataset, mean: np.ndarray) -> np.ndarray:
    square = np.zeros(shard.n_features)
    for X in _blocks(shard):
        square += np.nansum((X - mean) ** 2, axis=0)
    return square


def _ends(shard: RankingDataset, _: Any) -> tuple[np.ndarray, np.ndarray]:
    least, largest = np.full(shard.n_features, np.nan), np.full(shard.n_features, np.nan)
    for X in _blocks(shard):
        least, largest = np.fmin(least, np.fmin.reduce(X)), np.fmax(largest, np.fmax.reduce(X))
    return least, largest
