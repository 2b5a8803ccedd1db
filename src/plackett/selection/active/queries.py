"""Which queries to label."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.selection.budget import checked_budget

__all__ = ["k_center", "query_vectors"]


def query_vectors(data: RankingDataset) -> np.ndarray:
    """Mean and deviation of each feature over the documents of each query, scaled to deviation 1 over the queries."""
    X = data.dense().astype(np.float64)
    n = np.maximum(data.group, 1)[:, None]
    mean = np.add.reduceat(X, data.offsets[:-1]) / n
    spread = np.sqrt(np.maximum(np.add.reduceat(X * X, data.offsets[:-1]) / n - mean**2, 0.0))
    found = np.hstack([mean, spread])
    scale = found.std(axis=0)
    return (found - found.mean(axis=0)) / np.where(scale > 1e-12, scale, 1.0)


@fulfils("select.queries", paper="Gonzalez 1985; Sener and Savarese 2018")
def k_center(vectors: Any, budget: int, *, labelled: Any = (), random_state: Any = 0) -> np.ndarray:
    r"""Queries that leave no other far from a labelled one: the greedy k-centre method.

    Each step takes the query that is farthest from those taken. The largest distance of any query to its nearest
    centre is at most twice the least that is possible.

    Parameters
    ----------
    vectors
        A vector per query, such as `query_vectors` of a dataset or embeddings of the query texts; or a dataset.
    budget
        Number of queries.
    labelled
        Numbers of queries that are labelled already. Without any, the first query is drawn.

    Examples
    --------
    >>> k_center([[0.0], [0.1], [5.0], [9.0]], 2, labelled=[0]).tolist()
    [3, 2]
    """
    Z = query_vectors(vectors) if isinstance(vectors, RankingDataset) else np.asarray(vectors, np.float64)
    if Z.ndim != 2 or not np.isfinite(Z).all():
        raise DataError("a vector of finite numbers per query is needed")
    taken = np.unique(np.asarray(labelled, np.int64))
    if taken.size and not (taken.min() >= 0 and taken.max() < len(Z)):
        raise DataError(f"labelled must be numbers of queries, 0 to {len(Z) - 1}")
    budget = checked_budget(budget, len(Z) - taken.size, "unlabelled queries")
    chosen: list[int] = []
    distance = np.full(len(Z), np.inf)
    for center in taken:
        distance = np.minimum(distance, np.square(Z - Z[center]).sum(axis=1))
    distance[taken] = -1.0
    if not taken.size:
        first = int(np.random.default_rng(random_state).integers(len(Z)))
        chosen.append(first)
        distance = np.square(Z - Z[first]).sum(axis=1)
        distance[first] = -1.0
    while len(chosen) < budget:
        center = int(distance.argmax())
        chosen.append(center)
        distance = np.minimum(distance, np.square(Z - Z[center]).sum(axis=1))
        distance[center] = -1.0
    return np.array(chosen)
