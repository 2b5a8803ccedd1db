"""Evaluation over shards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from plackett.cluster.shards import Shards
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.evaluate import evaluate as evaluate_here

__all__ = ["evaluate"]


def evaluate(shards: Shards, ranker: Any, measures: Any, *, preset: str | None = None) -> Evaluation:
    """Score the documents of all shards with a fitted ranker and measure the rankings.

    The scores are computed where the documents are. Scores and labels travel back, not features, as some measures
    depend on all labels (ERR on the highest grade). The result is that of `plackett.evaluate` on all data, to the last
    bit.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = pk.ListNet().fit(data)
    >>> found = evaluate(pk.cluster.SerialShards(data, 3), ranker, ["nDCG@10"])
    >>> found.mean == pk.evaluate(data, ranker.predict(data), ["nDCG@10"]).mean
    True
    """
    parts = shards.gather(_scored, ranker)
    judged = concat([part for part, _ in parts])
    scores = np.concatenate([scores for _, scores in parts])
    return evaluate_here(judged, scores, measures, preset=preset)


def _scored(shard: RankingDataset, ranker: Any) -> tuple[RankingDataset, np.ndarray]:
    """What a measure looks at: everything but the features."""
    nothing = np.empty((shard.n_rows, 0), np.float32)
    return replace(shard, X=nothing, feature_names=None, comments=None, input_rows=None), ranker.predict(shard)
