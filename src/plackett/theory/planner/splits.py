"""The ways to spend a budget of judgements."""

from __future__ import annotations

import numpy as np

from plackett._errors import DataError

__all__ = ["splits_of"]


def splits_of(
    budget: int, *, max_queries: int | None = None, max_documents: int | None = None, n_splits: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of queries, from few to many, and of documents for each, that spend a budget; at least 2 documents.

    >>> splits_of(100, n_splits=4)[0].tolist(), splits_of(100, n_splits=4)[1].tolist()
    ([1, 4, 14, 50], [100, 25, 7, 2])
    """
    if budget < 4:
        raise DataError(f"budget={budget}; give 4 judgements or more")
    most = min(budget // 2, budget if max_queries is None else max_queries)
    least = max(1, -(-budget // (budget if max_documents is None else max_documents)))
    if most < least:
        raise DataError(
            f"{budget} judgements do not fit into {max_queries} queries of {max_documents} documents; "
            "give a smaller budget"
        )
    queries = np.unique(np.rint(np.geomspace(least, most, n_splits)).astype(np.int64))
    return queries, budget // queries
