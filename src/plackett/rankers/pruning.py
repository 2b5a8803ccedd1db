"""Tree pruning: drop the least important trees of an ensemble and reweight the others."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._kernels.openmp import scoring_threads
from plackett.data.dataset import RankingDataset
from plackett.data.required import check_dataset
from plackett.data.trained_columns import TrainedColumns
from plackett.measures.language import parse
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, scale_tree, split_trees
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.search.coordinate import Coordinate
from plackett.solvers.search.problem import LinearProblem

__all__ = ["prune"]

_ROWS = 20_000


def prune(
    ranker: Any,
    data: RankingDataset,
    n_trees: int,
    *,
    method: str = "quality_loss",
    reweight: bool = True,
    measure: Any = "nDCG@10",
    max_iter: int = 5,
    tol: float = 1e-4,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Any:
    """Reduce a tree ranker to fewer trees, faster at about the same quality (CLEaVER).

    The trees become the features of a linear model, with one weight each. ``method`` decides which trees to drop. Line
    searches on the measure find the weights of the others; the measure never gets worse on ``data``.

    Parameters
    ----------
    ranker
        A fitted ranker whose model is a tree ensemble with one output. It is not modified.
    data
        Labelled documents used for the choice, preferably held-out ones: training data flatter the trees.
    n_trees
        Number of trees to keep.
    method
        Which trees to drop: ``"last"`` (the last ones), ``"skip"`` (all except trees at equal steps), ``"random"``,
        ``"low_weights"`` (smallest weight after a first line search), ``"score_loss"`` (those that move the documents
        of a list least against each other), ``"quality_loss"`` (those without which, one at a time, the measure is
        best), ``"greedy"`` (the same, measured again after each removal: slower).
    reweight
        Search for new weights, after the choice and, if the choice depends on them, before it. Otherwise all trees keep
        their weights.
    measure
        The measure to preserve.
    max_iter, tol
        Maximum number of line-search passes over the trees, and the improvement below which to stop.
    random_state
        Seed of ``"random"`` and of the order of the line searches.
    n_jobs
        Number of threads; None uses all cores.

    Notes
    -----
    Calibration is refitted on ``data``. The history of the validation measure is dropped, and the model card reports
    the measure on ``data``. Memory: eight bytes per document and tree. Weights may be negative. On few queries (a
    hundred, say) new weights fit the noise of ``data``: check the result on other data, and compare with
    ``reweight=False``.

    Examples
    --------
    >>> import plackett as pk
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> data = pk.RankingDataset.from_arrays(X, y, qid)
    >>> small = prune(pk.LambdaMART(n_estimators=10).fit(data), data, 2)
    >>> small.scorer_.booster.num_trees(), small.score(data)
    (2, 1.0)

    References
    ----------
    Lucchese, Nardini, Orlando, Perego, Silvestri, Trani: Post-learning optimization of tree ensembles for efficient
    ranking. SIGIR 2016.
    """
    data = getattr(ranker, "columns_in", TrainedColumns()).aligned(check_dataset(data))
    head, trees, outputs = _taken_apart(ranker, data, n_jobs)
    choice("method", method, METHODS)
    if not 1 <= n_trees <= len(trees):
        raise DataError(f"n_trees={n_trees}; the ranker has {len(trees)} trees, keep 1 or more of them")
    rng = np.random.default_rng(random_state)
    trees_as_features = _Weighted(outputs, data, measure, n_jobs)
    weights = np.ones(len(trees))
    choose, looks = METHODS[method]
    if reweight and looks:
        weights = trees_as_features.searched(np.arange(len(trees)), weights, max_iter, tol, rng)
    kept = np.sort(choose(trees_as_features, weights, n_trees, rng))
    weights = weights[kept]
    if reweight:
        weights = trees_as_features.searched(kept, weights, max_iter, tol, rng)
    small = copy.deepcopy(ranker)
    small.scorer_ = TreeScorer(join_trees(head, [scale_tree(trees[t], w) for t, w in zip(kept, weights, strict=True)]))
    # values and calibration of the full ensemble do not hold for the pruned one
    small.history_ = []
    value = trees_as_features.lists.value(weights @ outputs[kept])
    pruned = {"method": method, "trees": n_trees, "of": len(trees), "weights": reweight}
    pruned |= {"measure": str(trees_as_features.measure), "value": float(value)}
    small.card_ = {name: entry for name, entry in ranker.card_.items() if name != "validation"} | {"pruned": pruned}
    small.calibrate_on(data)
    small.note_distribution(data)
    return small


def _taken_apart(
    ranker: Any, data: RankingDataset, n_jobs: int | None
) -> tuple[dict[str, str], list[dict[str, str]], np.ndarray]:
    """Header and trees of the ensemble, and the output of each tree for each document."""
    scorer = ranker.scorer_.model if hasattr(ranker, "scorer_") else None
    if not isinstance(scorer, TreeScorer):
        raise DataError(f"prune needs a fitted tree ranker, but {type(ranker).__name__} has no trees or is not fitted")
    head, trees = split_trees(scorer.text)
    if head["num_class"] != "1":
        raise DataError(f"{type(ranker).__name__} has {head['num_class']} scores per document; prune takes one")
    ranker.check_features(data)
    outputs = np.empty((len(trees), data.n_rows))
    values = [np.array(tree["leaf_value"].split(), np.float64) for tree in trees]
    for start in range(0, data.n_rows, _ROWS):
        rows = slice(start, start + _ROWS)
        leaves = scorer.booster.predict(
            data.X[rows], pred_leaf=True, num_threads=scoring_threads(n_jobs, _ROWS, len(trees))
        )
        for t, leaf in enumerate(leaves.astype(np.int64).reshape(-1, len(trees)).T):
            outputs[t, rows] = values[t][leaf]
    return head, trees, outputs


class _Weighted:
    """The outputs of the trees, as features whose weights are to be found."""

    def __init__(self, outputs: np.ndarray, data: RankingDataset, measure: Any, n_jobs: int | None) -> None:
        self.outputs, self.data, self.n_jobs = outputs, data, n_jobs
        self.measure = parse(measure)
        self.lists = MeasureObjective(data, self.measure, n_jobs)

    def searched(
        self, kept: np.ndarray, start: np.ndarray, max_iter: int, tol: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Weights of some trees after line searches from a start; the same sum of absolute values, at least as good."""
        table = self.data.replace(X=self.outputs[kept].T.astype(np.float32), feature_names=None)
        problem = LinearProblem(table, self.measure, standardize=False, n_jobs=self.n_jobs)
        best, value = start, self.lists.value(start @ self.outputs[kept])
        for weights in Coordinate(max_iter=max_iter, tol=tol).rounds(problem, start, rng):
            weights = weights * np.abs(start).sum()
            new_value = self.lists.value(weights @ self.outputs[kept])  # the search sees the trees rounded to float32
            if new_value > value:
                best, value = weights, new_value
        return best


# ------------------------------------------------------------------------------------- which trees stay


def _last(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n)


def _skip(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) * weights.size // n


def _random(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(weights.size, n, replace=False)


def _low_weights(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.argsort(-np.abs(weights), kind="stable")[:n]


def _score_loss(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    data = trees.data
    moved = np.empty(weights.size)
    for t, output in enumerate(trees.outputs):
        mean = np.bincount(data.query_of_row, output, data.n_queries) / np.maximum(data.group, 1)
        moved[t] = np.abs(weights[t] * (output - mean[data.query_of_row])).sum()
    return np.argsort(-moved, kind="stable")[:n]


def _quality_loss(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    without = _without_each(trees, weights, weights @ trees.outputs, np.arange(weights.size))
    return np.argsort(without, kind="stable")[:n]


def _greedy(trees: _Weighted, weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    kept = np.arange(weights.size)
    scores = weights @ trees.outputs
    while kept.size > n:
        without = _without_each(trees, weights, scores, kept)
        dropped = kept[np.argmax(without)]
        scores = scores - weights[dropped] * trees.outputs[dropped]
        kept = kept[kept != dropped]
    return kept


def _without_each(trees: _Weighted, weights: np.ndarray, scores: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The measure without each of some trees."""
    parts = np.array_split(kept, max(1, kept.size * scores.size >> 24))  # about 128 MB of scores at once
    return np.concatenate([trees.lists.values(scores - weights[p, None] * trees.outputs[p]) for p in parts])


#: Which trees stay, and whether that depends on the weights.
METHODS: dict[str, tuple[Callable[[_Weighted, np.ndarray, int, np.random.Generator], np.ndarray], bool]] = {
    "last": (_last, False),
    "skip": (_skip, False),
    "random": (_random, False),
    "low_weights": (_low_weights, True),
    "score_loss": (_score_loss, True),
    "quality_loss": (_quality_loss, True),
    "greedy": (_greedy, True),
}
