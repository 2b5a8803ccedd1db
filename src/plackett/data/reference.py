"""The distribution of features and scores in training, for a service to detect drift.

For each feature, and last for the scores: the deciles, and the shares of documents in the bins between them and of
those without a value. They are computed from a few thousand documents.
"""

from __future__ import annotations

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense

__home__ = "rankers"

#: Bins of a feature.
BINS = 10
#: Number of documents used: whole queries, spread over the data.
_ROWS = 1_000
#: With more features than this, only the scores are recorded.
_MOST_FEATURES = 2_000


def reference_of(sample: RankingDataset, scores: np.ndarray) -> np.ndarray | None:
    """Edges (9) and shares (10, and one of missing values) of each feature and of the scores, float32.

    Equal edges mean that many documents share a value. None for scores with several outputs.

    >>> data = RankingDataset.from_arrays([[0.0], [1.0], [2.0]], None, [1, 1, 1])
    >>> reference_of(data, np.array([0.5, 0.1, 0.3])).shape
    (2, 20)
    """
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 1 or not np.isfinite(scores).all():
        return None
    tables = [scores[:, None]]
    if sample.n_features <= _MOST_FEATURES:
        tables.insert(0, dense(sample.X))
    return np.concatenate([_noted(table) for table in tables]).astype(np.float32)


def below_zero(reference: np.ndarray | None, n_features: int) -> np.ndarray:
    """The features that are below 0 in about a tenth of the training documents or more; all if they were not recorded.

    >>> data = RankingDataset.from_arrays(np.arange(-2.0, 2.0).reshape(2, 2), None, [1, 1])
    >>> below_zero(reference_of(data, np.zeros(2)), 2).tolist()
    [True, True]
    """
    if reference is None or reference.shape != (n_features + 1, 2 * BINS):
        return np.ones(n_features, bool)
    return reference[:-1, 0] < 0


def check_reference(reference: np.ndarray, n_features: int) -> None:
    """Reject a table of a model file that is not what `reference_of` gives for this number of features."""
    shape = np.shape(reference)
    if shape not in ((1, 2 * BINS), (n_features + 1, 2 * BINS)) or reference.dtype.kind != "f":
        raise DataError(f"array 'reference_' of shape {shape} is not a distribution of {n_features} features")


def typical_rows(reference: np.ndarray | None, n_features: int) -> np.ndarray | None:
    """Artificial documents with the deciles of each feature in training, each column in its own order.

    Means over them are close to those over the training documents. None if the features were not recorded.

    >>> data = RankingDataset.from_arrays(np.arange(100.0)[:, None], None, np.zeros(100, int))
    >>> sorted(typical_rows(reference_of(data, data.X[:, 0]), 1)[:, 0].tolist())
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    if reference is None or reference.shape != (n_features + 1, 2 * BINS):
        return None
    deciles = reference[:-1, : BINS - 1].T
    return np.random.default_rng(0).permuted(deciles, axis=0)


def sample_of(data: RankingDataset) -> RankingDataset:
    """About a thousand documents, in whole queries spread over the data; the data themselves if there are no more."""
    return data if data.n_rows <= _ROWS else data.select(spread_queries(data.n_queries, data.n_rows))


def spread_queries(n_queries: int, n_rows: int) -> np.ndarray:
    """Numbers of the queries that `sample_of` takes.

    >>> spread_queries(10, 2_500).tolist()
    [0, 3, 6, 9]
    """
    n = max(1, min(n_queries, int(_ROWS / max(n_rows / n_queries, 1e-9))))
    return np.unique(np.linspace(0, n_queries - 1, n).astype(np.int64))


def _noted(values: np.ndarray) -> np.ndarray:
    ordered = np.sort(values, axis=0)  # NaN last
    present = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    ranks = (present[:, None] * np.arange(1, BINS)) // BINS
    edges = np.take_along_axis(ordered.T, ranks, axis=1)
    # in single precision, as they are stored: a value must fall into the same bin later
    edges = np.nan_to_num(edges, nan=0.0).astype(np.float32)
    return np.concatenate([edges, shares_of(values, edges)], axis=1)


def shares_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Share of the values of each column in the bins between its edges, and, last, of missing ones."""
    n, width = values.shape
    bins = np.full((n, width), BINS)
    present = ~np.isnan(values)
    above = (values.astype(np.float32)[:, :, None] >= edges[None, :, :]).sum(axis=2)
    bins[present] = above[present]
    flat = bins + (BINS + 1) * np.arange(width)
    counts = np.bincount(flat.ravel(), minlength=width * (BINS + 1)).reshape(width, BINS + 1)
    return counts / max(n, 1)
