"""Features that give the labels away: made from them, or from the order of a file with relevant documents first."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np

from plackett._base.errors import PlackettWarning, in_shell, parameter
from plackett._names.nearest import plural
from plackett.data.dataset import RankingDataset
from plackett.evaluation.importance import feature_names, feature_scores
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["giveaways"]

#: A feature that alone reaches this share of the way from a random to the ideal order gives the labels away. The best
#: single feature of public datasets reaches .81.
_SHARE = 0.95
#: The least evidence: queries whose labels differ, and their documents.
_QUERIES, _DOCUMENTS = 20, 100
#: The most documents and features that are looked at.
_LOOKED_AT, _FEATURES = 50_000, 200


def giveaways(data: RankingDataset) -> dict[str, float]:
    """Features that alone, with large or small values first, order the documents nearly as their labels do.

    Such a feature is too good to be true: it was made from the labels, comes from after the query, or is the position
    in a file that lists relevant documents first. What is trained with it is worthless for new queries.

    Parameters
    ----------
    data
        Features and labels. About 50,000 documents are looked at, and the 200 features that go best with the labels.

    Returns
    -------
    dict
        For each such feature the share of the way from a random (0) to the ideal order (1) that it reaches, as the mean
        nDCG over the queries whose labels differ, if it is .95 or more. Empty without 20 such queries that have 100
        documents together, which is too little to be sure, or with lists of over 12,500 documents, which take too long.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([2, 1, 0, 0, 0, 0], 30)
    >>> X = np.column_stack([y + rng.normal(size=180), np.tile(np.arange(6), 30)])
    >>> giveaways(RankingDataset.from_arrays(X, y, np.repeat(np.arange(30), 6), feature_names=["bm25", "position"]))
    {'position': 1.0}
    """
    if data.y is None or data.n_features == 0:
        return {}
    if "giveaways" not in data.memo:
        data.memo["giveaways"] = _found(_informative(data))
    return dict(data.memo["giveaways"])


def _found(part: RankingDataset) -> dict[str, float]:
    if part.n_queries < _QUERIES or not _DOCUMENTS <= part.n_rows <= 5 * _LOOKED_AT:
        return {}
    measure = parse("nDCG(gain='linear')")

    def value(scores: np.ndarray) -> float:
        return measure.mean(measure.per_query(Scored(part, scores)))

    names, ideal, random = feature_names(part), value(part.labels), value(np.zeros(part.n_rows))
    found = {}
    for j in _likely(part):
        best = max(value(feature_scores(part, j, sign)) for sign in (1, -1))
        if (share := (best - random) / (ideal - random)) >= _SHARE:
            found[names[j]] = round(share, 4)
    return found


def warn_of_giveaways(found: Collection[str], where: str = "") -> None:
    """Warn of features that give the labels away; ``where`` names the data."""
    if not found:
        return
    these = ", ".join(list(found)[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    warnings.warn(
        f"{where and where + ': '}{plural(len(found), 'feature alone orders', 'features alone order')} the documents "
        f"almost as the labels do: {these}. Values that were made from the labels, are not known at query time, or "
        "repeat the order of a file that lists relevant documents first make all figures worthless: leave such "
        f"features out ({parameter('drop', 'NAME' if in_shell() else repr(next(iter(found))))} of a table)",
        PlackettWarning,
        stacklevel=3,
    )


def _informative(data: RankingDataset) -> RankingDataset:
    """Queries whose judged documents differ in their labels, evenly spread if there are many."""
    judged = data.labels >= 0
    filled = np.flatnonzero(data.group > 0)
    starts = data.offsets[filled]
    if not filled.size:
        return data
    high = np.maximum.reduceat(np.where(judged, data.labels, -np.inf), starts)
    low = np.minimum.reduceat(np.where(judged, data.labels, np.inf), starts)
    queries = filled[high > low]
    every = min(-(-int(data.group[queries].sum()) // _LOOKED_AT), queries.size // _QUERIES)
    plain = RankingDataset(X=data.X, y=data.y, offsets=data.offsets, qids=data.qids, feature_names=data.feature_names)
    return plain.select(queries[:: max(every, 1)])


def _likely(data: RankingDataset) -> list[int]:
    """The features whose values go best with the labels, in the order of the columns."""
    if data.n_features <= _FEATURES:
        return list(range(data.n_features))
    mean = np.bincount(data.query_of_row, data.labels) / data.group
    above = data.labels - mean[data.query_of_row]
    X = data.X if not isinstance(data.X, np.ndarray) else np.nan_to_num(data.X)
    squares = X.multiply(X).sum(axis=0) if not isinstance(X, np.ndarray) else (X * X).sum(axis=0)
    strength = np.abs(X.T @ above) / np.sqrt(np.maximum(np.asarray(squares).ravel(), 1e-30))
    return np.sort(np.argsort(-strength, kind="stable")[:_FEATURES]).tolist()
