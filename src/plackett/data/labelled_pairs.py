"""Pairs with a label −1, 0 or +1, as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["labelled_pairs"]


def labelled_pairs(first: Any, second: Any, sign: Any) -> RankingDataset:
    """Make a dataset from pairs (x, x′) with a sign: +1 if x′ is better, −1 if x is, 0 if neither.

    Every pair is a query of two documents, with labels 0 and 1 or, for the sign 0, the same label twice: pairwise
    rankers ignore those, and `RankSVM` uses them if ``tie_weight`` is positive.

    Parameters
    ----------
    first, second
        Features of x and of x′, one row per pair.
    sign
        −1, 0 or +1 for each pair.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. 2012.

    Examples
    --------
    >>> data = labelled_pairs([[0.0], [2.0], [5.0]], [[1.0], [1.0], [5.0]], [1, -1, 0])
    >>> data.y.tolist(), data.n_queries
    ([0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 3)
    """
    first, second, sign = np.asarray(first), np.asarray(second), np.asarray(sign)
    if first.ndim != 2 or first.shape != second.shape or sign.shape != first.shape[:1]:
        raise DataError(
            f"first, second and sign have shapes {first.shape}, {second.shape} and {sign.shape}; give two tables of "
            "the same shape and a sign for each row"
        )
    bad = np.flatnonzero(~np.isin(sign, (-1, 0, 1)))
    if bad.size:
        raise DataError(f"sign[{bad[0]}] is {sign[bad[0]]}; give -1, 0 or 1")
    X = np.stack([first, second], axis=1).reshape(2 * sign.size, first.shape[1])
    y = np.stack([sign == -1, sign == 1], axis=1).ravel().astype(np.float64)
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(sign.size), 2))
