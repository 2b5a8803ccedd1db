"""Trees grown one at a time, each with the leaf of every row, for ensembles whose weights change later."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.models.trees.leaf_table import LeafTable
from plackett.scorers.trees.text import scale_tree, split_trees, trees_only


class GrownTrees:
    """The trees of a round, one per output: text, leaf values, and the slot that stores the leaf of each row."""

    def __init__(self, texts: list[dict[str, str]], slot: int) -> None:
        self.texts, self.slot = texts, slot
        self.values = [np.array(tree["leaf_value"].split(), np.float64) for tree in texts]

    def scaled(self, times: float) -> list[dict[str, str]]:
        """Their text with all values multiplied."""
        return [scale_tree(tree, times) for tree in self.texts]


class Grower:
    """Grows one LightGBM tree at a time from given gradients.

    Parameters
    ----------
    parameters
        LightGBM's, with the objective ``"none"``.
    datasets
        LightGBM's training data, and validation data if there are any.
    offsets
        Where the queries of each of them begin and end.
    n_jobs
        Threads that add trees up.
    """

    def __init__(
        self, parameters: dict[str, Any], datasets: list[Any], offsets: list[np.ndarray], n_jobs: int | None
    ) -> None:
        import lightgbm as lgb

        self.booster = lgb.Booster(parameters, datasets[0])
        for dataset in datasets[1:]:
            self.booster.add_valid(dataset, "valid")
        self.tables = [LeafTable(part, n_jobs) for part in offsets]
        self.running = [self._scores(part) for part in range(len(datasets))]
        self.head: dict[str, str] = {}

    def grow(self, gradient: np.ndarray, curvature: np.ndarray, kept: list[GrownTrees]) -> GrownTrees | None:
        """The trees of the next round, or None if no split is worthwhile; only ``kept`` trees can be added later."""
        before = self.booster.current_iteration()
        self.booster.update(fobj=lambda scores, dataset: (gradient, curvature))
        if self.booster.current_iteration() == before:
            return None
        text = self.booster.model_to_string(num_iteration=1, start_iteration=before)
        self.head, texts = split_trees(trees_only(text))
        if any(tree.get("is_linear", "0") != "0" for tree in texts):
            raise LossError("linear_tree: dropout needs trees with one value per leaf")
        taken = {trees.slot for trees in kept}
        new = GrownTrees(texts, next(slot for slot in count() if slot not in taken))
        for part, old in enumerate(self.running):
            self.running[part] = self._scores(part)
            for k, values in enumerate(new.values):
                leaf = _leaves(self.running[part][k] - old[k], values)
                self.tables[part].put(new.slot * len(texts) + k, leaf)
        return new

    def add(self, trees: list[GrownTrees], times: np.ndarray, part: int, scores: np.ndarray) -> None:
        """Add trees, each with its multiplicity, to the scores ``(outputs, rows)`` of a dataset, in the order of the
        trees.

        The scorer adds the same numbers in the same order, so scores that are equal here are equal there too.
        """
        for k, flat in enumerate(scores):
            lines = [grown.slot * len(scores) + k for grown in trees]
            values = [n * grown.values[k] for n, grown in zip(times, trees, strict=True)]
            self.tables[part].add(lines, values, flat)

    def size(self, trees: GrownTrees, row_weight: np.ndarray) -> float:
        """Weighted mean of the absolute outputs on the training data."""
        outputs = np.zeros((len(trees.values), row_weight.size))
        self.add([trees], np.ones(1), 0, outputs)
        return float((np.abs(outputs).sum(axis=0) * row_weight).sum() / row_weight.sum())

    def _scores(self, part: int) -> np.ndarray:
        """LightGBM's running scores of a dataset: the sum of all trees, regardless of their weights in the ensemble."""
        kept: list[np.ndarray] = []

        def take(scores: np.ndarray, dataset: Any) -> tuple[str, float, bool]:
            kept.append(np.array(scores.reshape(scores.shape[0], -1).T))  # a copy: the array is LightGBM's
            return "scores", 0.0, True

        (self.booster.eval_valid if part else self.booster.eval_train)(take)
        return kept[0]


def _leaves(outputs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The leaf of each row from what the tree adds to its score.

    Each row is in the leaf of the nearest value: a difference of running scores is off by their rounding.
    """
    order = np.argsort(values, kind="stable")
    middles = 0.5 * (values[order][1:] + values[order][:-1])
    return order.astype(np.min_scalar_type(values.size - 1))[np.searchsorted(middles, outputs)]
