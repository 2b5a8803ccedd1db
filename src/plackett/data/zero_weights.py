"""Queries that weigh nothing, and weights that say nothing."""

from __future__ import annotations

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset


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
