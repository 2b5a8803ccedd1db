"""The ways to spend a budget of judgements."""

from __future__ import annotations

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError


def splits_of(
    budget: int, *, max_queries: int | None = None, max_documents: int | None = None, n_splits: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of queries, from few to many, and of documents for each, that spend a budget; at least 2 documents.

    >>> splits_of(100, n_splits=4)[0].tolist(), splits_of(100, n_splits=4)[1].tolist()
    ([1, 4, 14, 50], [100, 25, 7, 2])
    """
    budget = whole("budget", budget, least=4)
    if max_documents is not None and max_documents < 2:
        raise DataError(f"documents={max_documents}; give 2 or more: a single document cannot be ranked")
    most = min(budget // 2, budget if max_queries is None else max_queries)
    least = max(1, -(-budget // (budget if max_documents is None else max_documents)))
    if most < least:
        raise DataError(
            f"{budget} judgements do not fit into {most} queries of {max_documents} documents; give a smaller budget"
        )
    return spread(budget, least, most, n_splits)


def spread(budget: int, least: int, most: int, n_splits: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of queries between two limits, evenly on a logarithmic scale, and of documents for each."""
    queries = np.unique(np.rint(np.geomspace(least, most, n_splits)).astype(np.int64))
    return queries, budget // queries
