"""What a ranker remembers of its training, when that was over shards."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.version import __version__
from plackett.cluster.shards import Shards
from plackett.data.canonical import query_keys
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.reference import spread_queries


def note_training(ranker: Any, shards: Shards, sizes: dict[str, int], names: Any, **more: Any) -> None:
    """Record what `fit` records: sizes, names, model card, and the distribution of features and scores.

    The documents for the distribution are those that `fit` takes, as they are chosen by their content.
    """
    ranker.n_features_in_, ranker.history_ = sizes["features"], []
    ranker.card_ = {"algorithm": type(ranker).__name__, "plackett": __version__, "data": sizes} | more
    for name in ("feature_names_in_", "calibration_"):  # of a training before
        ranker.__dict__.pop(name, None)
    if names is not None:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    sample = _sample(shards)
    ranker.note_reference(sample, ranker.score_rows(sample))


def _sample(shards: Shards) -> RankingDataset:
    """The queries that `plackett.data.reference.sample_of` takes of all data in canonical order."""
    parts = shards.gather(_keys)
    keys = np.sort(np.concatenate([part for part, _ in parts]))
    chosen = keys[spread_queries(keys.size, sum(rows for _, rows in parts))]
    found = shards.gather(_queries_of, chosen)
    whole = concat([part for part, _ in found])
    keys = np.concatenate([part for _, part in found])
    order = np.argsort(keys, kind="stable")
    # of queries with the same content, as many as were chosen
    first = np.searchsorted(keys[order], keys[order])
    wanted = np.searchsorted(chosen, keys[order], "right") - np.searchsorted(chosen, keys[order])
    return whole.select(np.sort(order[np.arange(order.size) - first < wanted]))


def _counting(shard: RankingDataset) -> np.ndarray:
    """Queries whose weight is not 0."""
    weight = shard.query_weight
    return np.arange(shard.n_queries) if weight is None else np.flatnonzero(weight)


def _keys(shard: RankingDataset, _: Any) -> tuple[np.ndarray, int]:
    if "query keys" not in shard.memo:
        shard.memo["query keys"] = query_keys(shard)
    counting = _counting(shard)
    return shard.memo["query keys"][counting], int(shard.group[counting].sum())


def _queries_of(shard: RankingDataset, chosen: np.ndarray) -> tuple[RankingDataset, np.ndarray]:
    """The features of the queries with these keys, in a dataset of their own, and their keys."""
    counting, (keys, _) = _counting(shard), _keys(shard, None)
    taken = np.isin(keys, chosen)
    part = shard.select(counting[taken])
    return RankingDataset.from_arrays(part.X, None, np.repeat(part.qids, part.group)), keys[taken]
