"""Shared base of the rankers that search for weights by the value of a measure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array
from plackett.measures.language import parse
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor
from plackett.solvers.search.problem import LinearProblem


@dataclass(kw_only=True, eq=False, repr=False)
class Searched(Ranker):
    """A linear model whose weights are found by a direct search on a measure, without a surrogate loss.

    The first search starts in the direction of steepest descent of the logistic pair loss at zero weights, later ones
    from random weights. The best weights are kept, judged by the measure on the training data or, if there are
    validation data, by `eval_measure` on those.

    Parameters
    ----------
    measure
        The measure to maximise; an error measure is minimised.
    n_restarts
        Number of additional searches from random weights.
    standardize
        Divide each feature by its standard deviation while searching, so that steps of one size fit all. The resulting
        weights apply to the original features.

    Attributes
    ----------
    value_
        Value of the measure on the training data for the kept weights.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    _test_skips: ClassVar[tuple[str, ...]] = ("preferences",)  # they decide where the search begins

    measure: Any = "nDCG"
    n_restarts: int = 0
    standardize: bool = True

    @abstractmethod
    def make_solver(self) -> Any:
        """The solver with its settings."""

    def full_effort(self) -> int | None:
        """Maximum number of rounds of a search."""
        return self.make_solver().max_iter

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """With restarts, rounds count all searches together, and a search may stop early."""
        return {"max_iter": min(rounds, self.make_solver().max_iter)}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole(f"{type(self).__name__}: n_restarts", self.n_restarts, least=0)
        solver = self.make_solver()
        problem = LinearProblem(data, parse(self.measure), self.standardize, self.n_jobs)
        rng = np.random.default_rng(self.random_state)
        best, highest = np.zeros(data.n_features), -np.inf
        what = f"{type(self).__name__} · {problem.lists.measure}"
        with monitor.training(solver.max_iter * (1 + self.n_restarts), what):
            for weights in self._path(solver, problem, rng):
                better, stop = monitor.judge(partial(_valid_scores, problem, weights), by_parts=True)
                value = float(problem.values(weights[None])[0])
                if value > highest if monitor.valid is None else better:
                    best, highest = weights, value
                if stop:
                    break
        self.value_ = problem.lists.sign * highest
        self.scorer_ = LinearScorer((best / problem.scale)[:, None], np.zeros(1))

    def _path(self, solver: Any, problem: LinearProblem, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The weights after each round of each search."""
        yield from solver.rounds(problem, problem.promising(row_array(problem.data.X, (problem.data.n_rows,))), rng)
        for _ in range(self.n_restarts):
            yield from solver.rounds(problem, rng.normal(size=problem.size), rng)


def _valid_scores(problem: LinearProblem, weights: np.ndarray, valid: RankingDataset) -> np.ndarray:
    return problem.scores(weights, valid.X)
