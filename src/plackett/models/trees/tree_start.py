"""Ensembles that continue from previously trained trees."""

from __future__ import annotations

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.scorers.base import Scorer
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import split_trees


def start_trees(start: Scorer, n_features: int, outputs: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Header and trees to continue from; raises an error if they do not fit the data."""
    if isinstance(start, TreeScorer):
        head, trees = split_trees(start.text)
        if int(head["max_feature_idx"]) + 1 == n_features and int(head["num_class"]) == outputs:
            return head, trees
    raise LossError("trees can only continue from trees with the same features")


def start_scores(data: RankingDataset | None, start: Scorer | None, outputs: int) -> np.ndarray:
    """Initial scores, ``(rows, outputs)``; no rows without data."""
    if data is None:
        return np.zeros((0, outputs))
    if start is None:
        return np.zeros((data.n_rows, outputs))
    return np.array(start.predict(data.X, data.offsets)).reshape(-1, outputs)
