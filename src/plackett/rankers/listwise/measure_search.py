"""Search for the linear model that maximises a measure itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.models.base import Monitor
from plackett.models.linear import LinearScorer
from plackett.models.search.problem import LinearProblem
from plackett.models.search.solvers import make_solver
from plackett.models.search_space import SearchSpace
from plackett.rankers.base import Ranker

__all__ = ["MeasureSearch"]


@dataclass(kw_only=True, eq=False, repr=False)
class MeasureSearch(Ranker):
    """A linear model whose weights are searched for by the value of a measure, without a loss in its place.

    The first search starts in the direction in which the logistic pair loss falls fastest from zero weights, each
    further one from random weights. The best weights are kept: by the measure on the training data, or by
    `eval_measure` on validation data where there are any.

    Parameters
    ----------
    measure
        What is maximised: any measure; one of errors is minimised.
    solver
        ``"directions"`` (line searches along promising directions), ``"coordinate"`` (along each feature),
        ``"annealing"`` or ``"random"``; or a solver object with settings of its own, such as
        ``Annealing(n_chains=16)``.
    max_iter
        Most rounds of the solver in each search; None is what the solver has by itself.
    n_restarts
        Further searches from random weights.
    standardize
        Divide each feature by its standard deviation while searching. The weights that come out are for the features
        as they are.

    Attributes
    ----------
    value_
        The measure of the kept weights on the training data.

    Notes
    -----
    Documents of weight 0 are left out of their lists; otherwise a query weighs ``query_weight`` times the mean weight
    of its documents.

    Examples
    --------
    >>> ranker = MeasureSearch(measure="AP").fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Robertson, Zaragoza: On rank-based effectiveness measures and optimization. Information Retrieval 2007.
    """

    ids: ClassVar[tuple[str, ...]] = ("listwise.rank_effectiveness",)
    paper: ClassVar[str] = "Robertson, Zaragoza 2007"
    allow_nan: ClassVar[bool] = False
    search_space: ClassVar[SearchSpace] = {"solver": ("directions", "coordinate"), "measure": ("nDCG", "nDCG@10", "AP")}

    measure: Any = "nDCG"
    solver: Any = "directions"
    max_iter: int | None = None
    n_restarts: int = 0
    standardize: bool = True

    def make_solver(self) -> Any:
        """The solver with its settings."""
        solver = make_solver(self.solver)
        return solver if self.max_iter is None else replace(solver, max_iter=self.max_iter)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.n_restarts < 0 or (self.max_iter is not None and self.max_iter < 1):
            raise DataError(
                f"{type(self).__name__}: n_restarts={self.n_restarts}, max_iter={self.max_iter}; "
                "give 0 or more restarts and 1 or more rounds"
            )
        solver = self.make_solver()
        problem = LinearProblem(data, parse(self.measure), self.standardize, self.n_jobs)
        rng = np.random.default_rng(self.random_state)
        best, highest = np.zeros(data.n_features), -np.inf
        what = f"{type(self).__name__} · {problem.lists.measure}"
        with monitor.training(solver.max_iter * (1 + self.n_restarts), what):
            for restart in range(1 + self.n_restarts):
                start = problem.promising(np.zeros(data.n_rows)) if restart == 0 else rng.normal(size=problem.size)
                stop = False
                for weights in solver.rounds(problem, start, rng):
                    before, valid = monitor.best_round, monitor.valid
                    stop = monitor.update(None if valid is None else problem.scores(weights, valid.X))
                    value = float(problem.values(weights[None])[0])
                    if monitor.best_round != before if valid is not None else value > highest:
                        best, highest = weights, value
                    if stop:
                        break
                if stop:
                    break
        self.value_ = problem.lists.sign * highest
        self.scorer_ = LinearScorer((best / problem.scale)[:, None], np.zeros(1))
