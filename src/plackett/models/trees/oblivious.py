"""Ensembles of symmetric trees, grown on the gradients of any loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import LossError
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.threshold_bins import ThresholdBins
from plackett.losses.base import Loss
from plackett.models.trees.oblivious_tree import Limits, grow
from plackett.models.trees.query_sample import QuerySample
from plackett.models.trees.tree_start import start_scores, start_trees
from plackett.scorers.base import Scorer
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, new_head
from plackett.solvers.monitor import Monitor

__all__ = ["Oblivious"]

_MOST_LEVELS = 12


@dataclass(kw_only=True, eq=False)
class Oblivious:
    r"""Boosted oblivious (symmetric) trees: all nodes of a level compare the same feature with the same threshold.

    A tree of depth d is a table of :math:`2^d` values, addressed by d comparisons. It overfits less than an
    unconstrained tree and scores fast. Each tree is a Newton step on the loss, as in `Trees`. The scorer is a LightGBM
    ensemble of full binary trees, so everything that works with trees works with it.

    Parameters
    ----------
    n_estimators, learning_rate
        Maximum number of trees, and the weight of each.
    depth
        Maximum number of levels of a tree, up to 12; fewer if no further split helps.
    min_child_samples, min_child_weight
        Least number of documents and least curvature of a leaf. A node in which a split would leave less does not count
        towards the gain of that split, and a leaf that has less takes the value of the node above it.
    max_bin
        Thresholds tried for each feature, up to 255.
    reg_lambda
        L2 penalty of leaf values.
    subsample, colsample_bytree
        Share of the queries and of the features that each tree sees.
    warm_start
        Continue from the trees of the last ``fit``.

    Examples
    --------
    >>> import plackett as pk
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = pk.GradientRanker(loss="Logistic", model=Oblivious(n_estimators=5, depth=2))
    >>> ranker = ranker.fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.
    Kohavi: Bottom-up induction of oblivious read-once decision graphs. ECML 1994.
    """

    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "n_estimators"
    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Real(0.02, 0.2, log=True),
        "depth": Integer(2, 7),
        "min_child_samples": Integer(1, 40, log=True),
    }

    n_estimators: int = 100
    learning_rate: float = 0.1
    depth: int = 5
    min_child_samples: int = 5
    min_child_weight: float = 1e-3
    max_bin: int = 255
    reg_lambda: float = 0.0
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    warm_start: bool = False
    random_state: int | None = 0
    n_jobs: int | None = None

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> TreeScorer:
        """Grow the trees."""
        self._check()
        loss = loss.settle(data)
        bound = loss.bind(data, n_jobs=self.n_jobs)
        outputs, valid = bound.n_outputs, monitor.valid
        head = new_head(data.n_features, outputs)
        trees: list[dict[str, str]] = []
        if start is not None:
            head, trees = start_trees(start, data.n_features, outputs)
            monitor.consider(start, loss)
        before = len(trees) // outputs
        scores, watched = (start_scores(part, start, outputs) for part in (data, valid))
        bins = ThresholdBins.of(data.X, self.max_bin, self.n_jobs)
        limits = Limits(self.depth, self.min_child_samples, self.min_child_weight, self.reg_lambda)
        sample = QuerySample(data, self.subsample, self.random_state, replace=False)
        features = np.random.default_rng(self.random_state)
        with monitor.training(self.n_estimators, f"{loss.name} · oblivious trees"):
            for _ in range(self.n_estimators):
                flat = scores if outputs > 1 else scores[:, 0]
                _, gradient, curvature = bound.evaluate(np.ascontiguousarray(flat), value=False)
                if loss.curvature == "none":
                    curvature = np.ones_like(gradient)
                gradient, curvature = (a.reshape(-1, outputs) for a in sample(gradient, curvature))
                used, round_ = self._features(features, data.n_features), []
                for k in range(outputs):
                    push, bend = np.ascontiguousarray(gradient[:, k]), np.ascontiguousarray(curvature[:, k])
                    tree, leaf = grow(bins, push, bend, used, limits, self.learning_rate, self.n_jobs)
                    scores[:, k] += tree.values[leaf]
                    if valid is not None:
                        watched[:, k] += tree.predict(valid.X)
                    round_.append(tree.lines())
                trees += round_
                seen = watched if outputs > 1 else watched[:, 0]
                if monitor.update(None if valid is None else loss.ranking_scores(seen)):
                    break
        if monitor.kept is not None:
            del trees[(before + monitor.kept) * outputs :]
        return TreeScorer(join_trees(head, trees))

    def _check(self) -> None:
        whole("depth", self.depth, least=1, most=_MOST_LEVELS, error=LossError)
        whole("n_estimators", self.n_estimators, least=1, error=LossError)
        for name in ("subsample", "colsample_bytree"):
            number(name, getattr(self, name), above=0.0, most=1.0, error=LossError)

    def _features(self, rng: np.random.Generator, n_features: int) -> np.ndarray:
        """Which features a tree may use."""
        used = np.ones(n_features, np.bool_)
        if self.colsample_bytree < 1.0:
            n_kept = max(1, round(self.colsample_bytree * n_features))
            used[rng.permutation(n_features)[n_kept:]] = False
        return used
