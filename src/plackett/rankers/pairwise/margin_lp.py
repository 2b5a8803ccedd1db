"""The largest ranking margin, by linear programming."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError, LossError, PlackettWarning
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale
from plackett.data.preferences import Preferences
from plackett.data.weights import given_or_ones
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.monitor import Monitor

__all__ = ["MarginLP"]

#: Maximum number of pairs added as rows at a time if no pair may fall short of the margin.
_PAIRS_AT_A_TIME = 50


@dataclass(kw_only=True, eq=False, repr=False)
class MarginLP(Ranker):
    r"""The linear ranker with the largest L1 margin, by linear programming.

    .. math:: \max_{v, \rho, \xi \ge 0}\ \rho - \frac{1}{\nu W} \sum_{(a, b)} w_{ab}\,\xi_{ab}
              \quad\text{subject to}\quad
              v \cdot (x_a - x_b) \ge \rho - \xi_{ab},\quad \lVert v \rVert_1 \le 1,

    over the pairs "a before b", W their weight. At most a share ν of the pairs ends below the margin ρ. ν = 0 allows
    none; then ρ is the largest possible minimum margin, positive if and only if some weights order all pairs correctly,
    and by duality the value of the game between a distribution over pairs and the best feature (up to sign) for it. For
    features of 0 and 1 that is the margin by which boosting is measured; RankBoost does not always reach it.

    The slacks are never variables. For given v the best ρ and ξ make the objective the mean margin of the worst share ν
    of the pairs, :math:`g(v) = \min_D \sum D_{ab}\,v \cdot (x_a - x_b)` over distributions with :math:`D_{ab} \le
    w_{ab} / (\nu W)`, which is concave. Each such D is a row of a small program over v that bounds g from above.
    SciPy's HiGHS solves it. The worst D at its solution, and the worst one half-way to the best v so far, become the
    next rows, until bound and best value meet. A step costs a sort of the pairs. It suits small data: the pairs must
    fit into memory, with at most a few hundred features. Explicit preferences replace the pairs of unequal labels;
    their margins are not used.

    Parameters
    ----------
    nu
        Share ν of the pairs that may fall short of the margin, from 0 to below 1. Noisy labels need a large one: if no
        weights give the worst share ν of the pairs a positive mean margin, the solution is 0 everywhere, and
        ``objective_`` with it. Chosen on validation queries over several small sets: 0.5 gave constant scores on three
        of five sets (see "Defaults on small data" in the guide to rankers).
    standardize
        Divide each feature by its standard deviation first; otherwise features on a large scale are favoured.
    max_pairs
        Reject data with more pairs than this.
    max_iter, tol
        Maximum number of programs, and the gap between bound and value at which to stop, as a share of the largest
        difference of a feature in the first row.

    Attributes
    ----------
    margin_, objective_, gap_
        The margin ρ in units of the (standardised) features, the objective, and an upper bound on how far it is below
        the optimum. They are not saved with the model.

    Examples
    --------
    >>> ranker = MarginLP(nu=0.0, standardize=False).fit([[0.0], [1.0], [3.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.margin_
    1.0

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.
    Demiriz, Bennett, Shawe-Taylor: Linear programming boosting via column generation. Machine Learning 2002.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None  # `max_iter` is an upper bound that training rarely reaches
    search_space: ClassVar[SearchSpace] = {"nu": Real(0.1, 0.9)}

    nu: float = 0.9
    standardize: bool = True
    max_pairs: int = 5_000_000
    max_iter: int = 500
    tol: float = 1e-4

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        number("nu", self.nu, least=0.0, below=1.0, error=LossError)
        scale = feature_scale(data.X, data.row_weight, self.standardize)
        pairs, weight = self._pairs(data)
        program = _Program(data.X, scale, pairs, weight, self.nu, self.n_jobs)
        with monitor.training(1, "MarginLP"):
            if len(pairs):
                program.solve(self.max_iter, self.tol)
            scorer = LinearScorer((program.best / scale)[:, None], np.zeros(1))
            monitor.keep(scorer)
        self.scorer_ = scorer
        self.margin_, self.objective_, self.gap_ = program.margin, program.value, program.bound - program.value

    def _pairs(self, data: RankingDataset) -> tuple[Preferences, np.ndarray]:
        """All pairs of positive weight, and their weights."""
        pairs = data.preferences
        if pairs is None:
            n_pairs = _count_pairs(data)
            if n_pairs > self.max_pairs:
                raise DataError(
                    f"the labels make {n_pairs:,} pairs, more than max_pairs={self.max_pairs:,}; "
                    "give fewer queries, or use SmoothMarginRanking"
                )
            pairs = Preferences.from_labels(data, margin=False)
        weight = given_or_ones(pairs.weight, len(pairs))
        if data.sample_weight is not None:
            weight = weight * data.sample_weight[pairs.winner] * data.sample_weight[pairs.loser]
        if data.query_weight is not None:
            weight = weight * data.query_weight[data.query_of_row[pairs.winner]]
        some = np.flatnonzero(weight)
        return pairs.take(some), weight[some]


def _count_pairs(data: RankingDataset) -> int:
    """Number of pairs of unequal labels."""
    judged = np.flatnonzero(data.labels >= 0)
    groups = np.stack([data.query_of_row[judged], data.labels[judged]], axis=1)
    same = np.unique(groups, axis=0, return_counts=True)[1].astype(np.float64)
    sizes = np.bincount(data.query_of_row[judged]).astype(np.float64)
    return int((sizes @ sizes - same @ same) / 2)


class _Program:
    """The concave function g, its best argument so far, and the rows that bound it from above."""

    def __init__(
        self, X: Any, scale: np.ndarray, pairs: Preferences, weight: np.ndarray, nu: float, n_jobs: int | None
    ) -> None:
        self.X, self.scale, self.pairs, self.n_jobs = X, scale, pairs, n_jobs
        self.price = np.full(weight.size, np.inf) if nu == 0 else weight / (nu * weight.sum())
        self.rows: list[np.ndarray] = []
        self.best, self.value, self.margin = np.zeros(scale.size), 0.0, 0.0
        self.bound = 0.0 if weight.size == 0 else np.inf

    def solve(self, max_iter: int, tol: float) -> None:
        """Add rows until the bound meets the value."""
        self._visit(self.best)
        unit = max(float(np.abs(self.rows[0]).max()), np.finfo(float).tiny)
        for _ in range(max_iter):
            top, self.bound = _solve(np.array(self.rows))
            if self.bound - self.value <= tol * unit:
                return
            self._visit(top)
            self._visit(0.5 * (top + self.best))  # rows near the best point are the most informative
        if self.bound - self.value > tol * unit:
            warnings.warn(
                f"MarginLP stopped after max_iter={max_iter} programs; the objective is {self.value:.4g} and could be "
                f"{self.bound:.4g} at most",
                PlackettWarning,
                stacklevel=5,
            )

    def _visit(self, weights: np.ndarray) -> None:
        """Value at some weights, and the rows of the pairs that are worst there."""
        scores = table_times(self.X, (weights / self.scale)[:, None], self.n_jobs)[:, 0]
        margins = scores[self.pairs.winner] - scores[self.pairs.loser]
        order = np.argsort(margins, kind="stable")
        before = np.concatenate(([0.0], np.cumsum(self.price[order])[:-1]))
        share = np.clip(1.0 - before, 0.0, self.price[order])
        worst = order[: np.count_nonzero(share)]
        share = share[: worst.size]
        value = float(share @ margins[worst])
        if value > self.value or not self.rows:
            self.best, self.value, self.margin = weights, value, float(margins[worst[-1]])
        if worst.size > 1:
            self.rows.append(self._row(worst, share))
        else:
            self.rows += [self._row(order[i : i + 1], np.ones(1)) for i in range(min(order.size, _PAIRS_AT_A_TIME))]

    def _row(self, pairs: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Σ D (x_a − x_b) over some pairs."""
        n = self.X.shape[0]
        potential = np.bincount(self.pairs.winner[pairs], share, n) - np.bincount(self.pairs.loser[pairs], share, n)
        rows = np.flatnonzero(potential)
        return transposed_times(self.X[rows], potential[rows, None], 1)[:, 0] / self.scale


def _solve(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights of L1 norm at most 1 that maximise the smallest product with a row, and that product."""
    from scipy.optimize import linprog

    k, d = rows.shape
    table = np.vstack([np.hstack([-rows, rows, np.ones((k, 1))]), np.append(np.ones(2 * d), 0.0)])
    bounds = [(0.0, None)] * (2 * d) + [(None, None)]
    solution = linprog(
        np.append(np.zeros(2 * d), -1.0), table, np.append(np.zeros(k), 1.0), bounds=bounds, method="highs"
    )
    if solution.status != 0:
        raise LossError(f"MarginLP: the linear program was not solved ({solution.message})")
    return solution.x[:d] - solution.x[d : 2 * d], -float(solution.fun)
