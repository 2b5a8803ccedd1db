"""Feature importance according to the model itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.importance import feature_names

if TYPE_CHECKING:
    import polars as pl

__all__ = ["model_importance"]


def model_importance(ranker: Any, data: RankingDataset) -> pl.DataFrame | None:
    """Feature importance according to a fitted model itself; None for models that have none.

    Trees: total ``gain`` of the splits on each feature. Linear models: ``|weight|`` times the standard deviation of the
    feature in ``data``. Sums of one function per feature (such as RankBoost): the standard deviation of that
    function over ``data``. Figures of one model can be compared with each other, not with those of another.

    Returns
    -------
    polars.DataFrame
        ``feature``, ``importance``, ``share`` (of the sum over all features) and ``kind`` (what the importance is); the
        most important feature first.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, 8, 3, random_state=0)
    >>> model_importance(pk.ListNet().fit(data), data)["kind"][0]
    '|weight| × standard deviation'
    """
    import polars as pl

    scorer = getattr(ranker, "scorer_", None)
    own = None if scorer is None else scorer.importance(data.X)
    if own is None:
        return None
    importance = own.values
    total = importance.sum()
    frame = pl.DataFrame(
        {
            "feature": feature_names(data),
            "importance": importance,
            "share": importance / total if total > 0 else np.zeros_like(importance),
            "kind": own.meaning,
        }
    )
    return frame.sort("importance", descending=True, maintain_order=True)
