"""A regression tree whose leaves are grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.search_space import Integer, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.pointwise.square import Square
from plackett.models.trees.model import Trees
from plackett.rankers.base import Ranker
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import trees_only
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["OrdinalTree"]


def _median(labels: np.ndarray, weights: np.ndarray, grades: np.ndarray) -> float:
    order = np.argsort(labels, kind="stable")
    below = np.cumsum(weights[order])
    return float(labels[order][np.searchsorted(below, 0.5 * below[-1])])


def _mode(labels: np.ndarray, weights: np.ndarray, grades: np.ndarray) -> float:
    mass = np.bincount(np.searchsorted(grades, labels), weights, grades.size)
    return float(grades[np.argmax(mass)])


def _rounded(labels: np.ndarray, weights: np.ndarray, grades: np.ndarray) -> float:
    return float(grades[np.argmin(np.abs(grades - np.average(labels, weights=weights)))])


#: Value of a leaf: a grade derived from the labels of its documents.
LEAVES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    "median": _median,
    "mode": _mode,
    "rounded": _rounded,
}


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalTree(Ranker):
    """Regression tree for ordinal classes: one tree grown by least squares, with an actual grade in each leaf.

    It predicts grades, so many documents tie; use it if you want to read the tree.

    Parameters
    ----------
    leaf
        ``"median"`` of the labels in the leaf, their ``"mode"``, or the grade nearest to their mean, ``"rounded"``.
    num_leaves, max_depth, min_child_samples
        Size of the tree: leaves, depth (-1 is any), least number of documents in a leaf (``"auto"``: 20, or a tenth of
        the documents if there are fewer than 200).
    lightgbm_params
        Further parameters in LightGBM's own names.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = OrdinalTree().fit(X, [i % 10 // 4 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.predict([[1.0], [9.0], [5.0]], qid=[0, 0, 0])
    array([0., 2., 1.])

    References
    ----------
    Kramer, Widmer, Pfahringer, De Groeve: Prediction of ordinal classes using regression trees. ISMIS 2000.
    """

    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {
        "num_leaves": Integer(4, 64, log=True),
        "min_child_samples": Integer(5, 200, log=True),
    }

    leaf: str = "median"
    num_leaves: int = 31
    max_depth: int = -1
    min_child_samples: int | str = "auto"
    lightgbm_params: dict[str, Any] | None = None

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        choice("leaf", self.leaf, LEAVES)
        tree = Trees(
            n_estimators=1,
            learning_rate=1.0,
            num_leaves=self.num_leaves,
            max_depth=self.max_depth,
            min_child_samples=self.min_child_samples,
            lightgbm_params=self.lightgbm_params,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        with monitor.training(1, "ordinal tree"):
            grown = tree.train(Square(), data, SilentMonitor())
            self.scorer_ = _with_grades(grown, data, LEAVES[self.leaf])
            monitor.keep(self.scorer_)


def _with_grades(scorer: TreeScorer, data: RankingDataset, grade: Callable[..., float]) -> TreeScorer:
    """The tree with the grade of each leaf instead of its mean."""
    weight = data.row_weight
    counts = np.flatnonzero((data.labels >= 0) & (weight > 0))
    labels, weights = data.labels[counts], weight[counts]
    grades = np.unique(labels)
    booster = scorer.booster
    leaves = np.ravel(booster.predict(data.X, pred_leaf=True))[counts]
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        booster.set_leaf_output(0, int(leaf), grade(labels[inside], weights[inside], grades))
    return TreeScorer(trees_only(booster.model_to_string(num_iteration=-1)))
