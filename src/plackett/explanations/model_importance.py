"""Feature importance according to the model itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.evaluation.importance import feature_names
from plackett.explanations.exact import EXACT

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
    own = _OWN.get(getattr(scorer, "kind", ""))
    if own is None:
        return None
    kind, function = own
    importance = function(scorer, data)
    if importance.shape != (data.n_features,):
        return None
    total = importance.sum()
    frame = pl.DataFrame(
        {
            "feature": feature_names(data),
            "importance": importance,
            "share": importance / total if total > 0 else np.zeros_like(importance),
            "kind": kind,
        }
    )
    return frame.sort("importance", descending=True, maintain_order=True)


def _gain(scorer: Any, data: RankingDataset) -> np.ndarray:
    return np.asarray(scorer.booster.feature_importance("gain"), np.float64)


def _weights(scorer: Any, data: RankingDataset) -> np.ndarray:
    from sklearn.utils.sparsefuncs import mean_variance_axis

    X = data.X
    variance = np.nanvar(X, axis=0, dtype=np.float64) if isinstance(X, np.ndarray) else mean_variance_axis(X, 0)[1]
    return np.abs(scorer.weights).sum(axis=1) * np.sqrt(variance)


def _functions(scorer: Any, data: RankingDataset) -> np.ndarray:
    rows = np.linspace(0, data.n_rows - 1, min(data.n_rows, 10_000)).astype(np.int64)
    X = dense(data.X[rows])
    parts, _ = EXACT["additive"](scorer, X, X)
    return parts.std(axis=0)


#: By kind of scorer: what the importance is, and the function that gives it.
_OWN: dict[str, tuple[str, Callable[[Any, RankingDataset], np.ndarray]]] = {
    "trees": ("total gain of the splits", _gain),
    "linear": ("|weight| × standard deviation", _weights),
    "additive": ("standard deviation of its function", _functions),
}
