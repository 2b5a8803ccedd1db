"""Validation data of a ranker: given to `fit`, or set aside from the training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError, parameter
from plackett.data.canonical import canonical_order
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import training_data
from plackett.data.splits import split_queries
from plackett.data.trained_columns import TrainedColumns
from plackett.scorers.scoring import called


def validation_data(
    check: Callable[[RankingDataset, str], None],
    eval_set: Any,
    eval_qid: Any,
    eval_group: Any,
    n_features: int,
    columns: TrainedColumns | None = None,
) -> RankingDataset | None:
    """What ``eval_set``, ``eval_qid`` and ``eval_group`` of `fit` hold, checked; None if nothing was given."""
    if eval_set is None:
        return None
    if isinstance(eval_set, list):
        if len(eval_set) != 1:
            raise DataError(f"eval_set has {len(eval_set)} entries; give one pair (X, y)")
        eval_set = eval_set[0]
        eval_qid, eval_group = (
            entry[0] if isinstance(entry, list) and len(entry) == 1 and np.ndim(entry[0]) == 1 else entry
            for entry in (eval_qid, eval_group)
        )
    if not isinstance(eval_set, RankingDataset):
        if not isinstance(eval_set, tuple) or len(eval_set) != 2:
            raise DataError("eval_set must be a pair (X, y), a list of one such pair, or a RankingDataset")
        eval_set = training_data(*eval_set, eval_qid, eval_group, name="eval_set", columns=columns)
    elif eval_qid is not None or eval_group is not None:
        raise DataError("eval_set is a RankingDataset, which already contains its queries; omit eval_qid")
    elif columns is not None:
        eval_set = columns.aligned(eval_set, "eval_set")
    check(eval_set, "eval_set")
    if eval_set.n_features != n_features:
        raise DataError(f"{called('eval_set')} {eval_set.n_features} features, but the training data {n_features}")
    return canonical_order(eval_set)  # the mean over queries is a sum, whose last bits depend on their order


def set_aside(data: RankingDataset, share: float, random_state: int | None) -> tuple[RankingDataset, RankingDataset]:
    """Training and validation data, split by `validation_fraction`."""
    if not 0 < share < 1:
        raise DataError(f"validation_fraction={share}; give a share between 0 and 1")
    if data.n_queries < 2:
        raise DataError(
            f"validation_fraction={share} cannot split {data.n_queries} query; give {parameter('eval_set')} instead"
        )
    numbered = replace(data, qids=np.arange(data.n_queries))  # the split must not depend on how ids are written
    parts = split_queries(numbered, (1.0 - share, share), random_state=random_state)
    train, valid = (replace(part, qids=data.qids[part.qids]) for part in parts)
    return train, valid


def give_validation() -> str:
    """How to give validation data, for an error."""
    return f"give {parameter('eval_set')} or {parameter('validation_fraction', '0.2')}"
