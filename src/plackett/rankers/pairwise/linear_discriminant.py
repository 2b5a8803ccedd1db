"""Linear discriminant model: minimise misordered pairs, one weight at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.search_space import Integer, SearchSpace
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._listed_pairs import listed_pairs
from plackett.rankers.pairwise.ranking_perceptron import RankingPerceptron
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["LinearDiscriminant"]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearDiscriminant(Ranker):
    r"""Linear discriminant model: weights that minimise the weighted share of misordered pairs,

    .. math:: \sum_{u \succ v} \big( [w \cdot (x_u - x_v) < 0] + \tfrac12 [w \cdot (x_u - x_v) = 0] \big).

    Starting from a perceptron or from a single feature, one weight after another is moved to its minimum while the
    others are fixed. Along one weight the share is a step function, and sorting its steps gives the exact minimum. The
    share never increases, and training stops when no single weight can lower it. There are many local minima, so the
    start matters.

    Parameters
    ----------
    start
        ``"perceptron"``, the averaged `RankingPerceptron`; or the number of a feature (from 0), such as the score of
        the search engine, which starts with weight 1 and the others with 0.
    normalize
        Give each query the same weight, however many pairs it has.
    max_pairs
        If there are more pairs than this, sample this many in proportion to their weights. Time and memory grow with
        it.
    max_iter
        Maximum number of rounds over all weights.

    Attributes
    ----------
    errors_
        Share of misordered pairs at the start and after each round.

    Examples
    --------
    >>> ranker = LinearDiscriminant(start=1)
    >>> ranker = ranker.fit([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.errors_[0].__round__(2), ranker.errors_[-1]
    (0.67, 0.0)

    References
    ----------
    Gao, Qi, Xia, Nie: Linear discriminant model for information retrieval. SIGIR 2005.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"max_iter": Integer(1, 20, log=True)}
    #: The perceptron at the start depends on the order of the pairs.
    one_at_a_time: ClassVar[bool] = True

    start: str | int = "perceptron"
    normalize: bool = True
    max_pairs: int = 200_000
    max_iter: int = 10

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.max_pairs < 1 or self.max_iter < 1:
            raise LossError("max_pairs and max_iter must be 1 or more")
        winner, loser, weight = listed_pairs(data, self.max_pairs, self.normalize, self.random_state)
        w = self._first(data)
        gap = _gaps(data.X, w, winner, loser)
        X = data.X if isinstance(data.X, np.ndarray) else data.X.tocsc()
        rng = np.random.default_rng(self.random_state)
        self.errors_ = [_error(gap, weight)]
        start = _scorer(w)
        with monitor.training(self.max_iter, "line searches"):
            for _ in range(self.max_iter):
                for j in rng.permutation(data.n_features):
                    column = X[:, j] if isinstance(X, np.ndarray) else X[:, [j]].toarray()[:, 0]
                    step = column[winner].astype(np.float64) - column[loser]
                    move = best_move(gap, step, weight)
                    if move != 0.0:
                        w[j] += move
                        gap += move * step
                gap = _gaps(data.X, w, winner, loser)  # without the rounding of many moves
                self.errors_.append(_error(gap, weight))
                if monitor.keep(_scorer(w)) or self.errors_[-1] >= self.errors_[-2]:
                    break
        self.scorer_ = monitor.best or start

    def _first(self, data: RankingDataset) -> np.ndarray:
        if self.start == "perceptron":
            perceptron = RankingPerceptron(random_state=self.random_state, n_jobs=self.n_jobs)
            perceptron._fit(data, SilentMonitor())
            scorer: Any = perceptron.scorer_
            return scorer.weights[:, 0].copy()
        if not isinstance(self.start, (int, np.integer)) or not 0 <= self.start < data.n_features:
            last = data.n_features - 1
            raise LossError(f"start={self.start!r}; it is 'perceptron' or the number of a feature, 0 to {last}")
        w = np.zeros(data.n_features)
        w[self.start] = 1.0
        return w


def best_move(gap: np.ndarray, step: np.ndarray, weight: np.ndarray) -> float:
    """The move of a weight that minimises the weight of ``gap + move * step`` below 0; 0 if that is best.

    The middle of the best interval between two steps of the error.

    >>> best_move(np.array([-1.0, -2.0, 3.0]), np.array([1.0, 1.0, -1.0]), np.ones(3))
    2.5
    """
    some = np.flatnonzero((step != 0.0) & (weight > 0.0))
    if some.size == 0:
        return 0.0
    crossings = -gap[some] / step[some]
    order = np.argsort(crossings, kind="stable")
    # beyond its crossing a pair comes right where its step is positive, and goes wrong where it is negative
    change = np.where(step[some] > 0.0, -1.0, 1.0) * weight[some]
    return float(_sweep(crossings[order], change[order]))


@kernel
def _sweep(crossings, change):
    n = crossings.size
    error = 0.0  # relative to the far left
    here = 0.0  # at 0: below it all, half of what changes there
    for i in range(n):
        if crossings[i] < 0.0:
            here += change[i]
        elif crossings[i] == 0.0:
            here += 0.5 * change[i]
    slack = 1e-12
    best = here - slack
    width = -1.0
    move = 0.0
    reach = max(crossings[n - 1] - crossings[0], abs(crossings[0]), 1e-300)
    left = crossings[0] - reach
    for i in range(n + 1):
        right = crossings[i] if i < n else crossings[n - 1] + reach
        if right > left and (error < best or (error <= best + slack and width >= 0.0 and right - left > width)):
            best = min(error, best)
            width = right - left
            move = 0.5 * (left + right)
        if i < n:
            error += change[i]
            left = crossings[i]
    return move


def _gaps(X: Any, w: np.ndarray, winner: np.ndarray, loser: np.ndarray) -> np.ndarray:
    scores = table_times(X, w[:, None], out=row_array(X, (X.shape[0], 1)))[:, 0]
    return scores[winner] - scores[loser]


def _error(gap: np.ndarray, weight: np.ndarray) -> float:
    return float(weight[gap < 0.0].sum() + 0.5 * weight[gap == 0.0].sum())


def _scorer(w: np.ndarray) -> LinearScorer:
    return LinearScorer(w[:, None].copy(), np.zeros(1))
