"""Weights that may not be given, or are all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plackett._base.errors import DataError

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset


def given_or_ones(weight: np.ndarray | None, n: int) -> np.ndarray:
    """The weights, or n ones where there are none.

    The ones are read-only, like the weights of a dataset: Numba would compile a kernel again for an array that can be
    written to.

    >>> given_or_ones(None, 2).tolist()
    [1.0, 1.0]
    """
    if weight is not None:
        return weight
    ones = np.ones(n)
    ones.flags.writeable = False
    return ones


def without_zero_weights(data: RankingDataset) -> RankingDataset:
    """The dataset without queries of weight 0, so that they do not affect histograms and leaf sizes either.

    Weights that are all 1 are dropped: the result is exactly that of unweighted data.
    """
    for name in ("sample_weight", "query_weight"):
        weight = getattr(data, name)
        if weight is not None and not weight.any():
            raise DataError(f"{name} is zero everywhere; there is nothing to learn")
    if data.query_weight is not None and not data.query_weight.all():
        data = data.select(data.query_weight > 0)
    ones = [name for name in ("sample_weight", "query_weight") if _is_one(getattr(data, name))]
    return data.replace(**dict.fromkeys(ones)) if ones else data


def _is_one(weight: np.ndarray | None) -> bool:
    return weight is not None and bool((weight == 1.0).all())
