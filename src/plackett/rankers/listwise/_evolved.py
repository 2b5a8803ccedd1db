"""Shared base of the rankers that evolve a formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.scorers.formulas.machine import by_column, evaluate
from plackett.scorers.formulas.program import Program
from plackett.scorers.formulas.scorer import FormulaScorer
from plackett.solvers.formulas.breeding import Breeder
from plackett.solvers.formulas.evolution import Evolution, Fitness
from plackett.solvers.formulas.simplify import simplify
from plackett.solvers.formulas.text import default_names, to_text
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.monitor import Monitor


@dataclass(kw_only=True, eq=False, repr=False)
class Evolved(Ranker):
    """A formula of the features, found by genetic programming with a measure as fitness.

    Without validation data, the formula with the best fitness is kept. With validation data, the best formulas of each
    generation are evaluated on them by `eval_measure`, and the best of all generations is kept.

    Parameters
    ----------
    measure
        Measure used as fitness; an error measure is minimised.
    population_size, generations
        Number of formulas in a generation, and number of generations.
    functions
        Operations to build formulas from: ``+ - * / max min log sqrt exp neg abs``. Division by 0 is 1, log 0 is 0, log
        and sqrt take the absolute value, and results are cut off at ±1e100.
    max_depth, max_size
        Limits on a formula: edges from its root to a leaf, and number of nodes.
    constant_share, constant_range
        Share of constants among new leaves, and the range they are drawn from.
    crossover_rate, mutation_rate
        Share of new formulas made by crossover and by mutation; the rest are copies (reproduction).
    tournament_size
        A parent is the best of this many formulas drawn at random.
    elitism
        Number of best formulas that always survive. With 1 or more, the best fitness never decreases.
    parsimony
        Fitness penalty per node; the shorter of two equal formulas wins in any case.
    n_runs
        Number of independent populations, run one after another; the best formula overall is kept. Early stopping ends
        all runs.
    n_validated
        Number of formulas of each generation to evaluate on the validation data.

    Attributes
    ----------
    formula_, simplified_formula_
        The formula as text, as evolved and simplified; both give the same value for every document. Features without
        names are called x1, x2, ….
    fitness_
        The best fitness of each generation.
    value_
        Value of the measure on the training data for the kept formula.

    Notes
    -----
    Documents of weight 0 are left out of their lists. The weight of a query is ``query_weight`` times the mean weight
    of its documents.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "generations"
    search_space: ClassVar[SearchSpace] = {
        "max_size": Integer(7, 63, log=True),
        "parsimony": Real(1e-5, 1e-2, log=True),
    }

    measure: Any = "AP"
    population_size: int = 200
    generations: int = 30
    functions: tuple[str, ...] = ("+", "-", "*", "/")
    max_depth: int = 6
    max_size: int = 31
    constant_share: float = 0.2
    constant_range: tuple[float, float] = (0.0, 1.0)
    crossover_rate: float = 0.75
    mutation_rate: float = 0.2
    tournament_size: int = 5
    elitism: int = 1
    parsimony: float = 0.0
    n_runs: int = 1
    n_validated: int = 1

    def leaves(self, names: list[str]) -> list[Program] | None:
        """The formulas used as leaves; None uses the features themselves."""
        return None

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Every run gets as many generations as the best one had."""
        return {"generations": (rounds - 1) % self.generations + 1}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for name in ("generations", "n_runs", "n_validated"):
            whole(name, getattr(self, name), least=1)
        names = list(data.feature_names) if data.feature_names is not None else default_names(data.n_features)
        leaves = self.leaves(names)
        evolution = self._evolution(data.n_features if leaves is None else len(leaves))
        fitness = Fitness(
            MeasureObjective(data, parse(self.measure), self.n_jobs), self._leaf_columns(data.X, leaves), self.n_jobs
        )
        valid = monitor.valid
        valid_columns = None if valid is None else self._leaf_columns(valid.X, leaves)
        best, highest, reached = None, -np.inf, []
        with monitor.training(self.n_runs * self.generations, f"{type(self).__name__} · {fitness.lists.measure}"):
            for programs, values in self._path(evolution, fitness):
                reached.append(float(values.max()))
                chosen, merit = programs[0], evolution.merit(programs[0], values[0])
                if valid is None or valid_columns is None:
                    monitor.update()
                    better, stop = merit > highest, False
                else:
                    chosen, scores = self._best_on(monitor, valid, valid_columns, programs)
                    better, stop = monitor.judge(partial(_same, scores))
                if better:
                    best, highest = chosen, merit
                if stop:
                    break
        assert best is not None  # before the first generation, an interrupt is passed on to the caller
        self.fitness_ = [fitness.lists.sign * value for value in reached]
        self.value_ = fitness.lists.sign * float(fitness([best])[0])
        self.scorer_ = FormulaScorer.of(best if leaves is None else best.filled(leaves), data.n_features)

    def _evolution(self, n_leaves: int) -> Evolution:
        return Evolution(
            breeder=Breeder(
                n_leaves,
                tuple(self.functions),
                self.max_depth,
                self.max_size,
                self.constant_share,
                (float(self.constant_range[0]), float(self.constant_range[1])),
            ),
            population_size=self.population_size,
            crossover_rate=self.crossover_rate,
            mutation_rate=self.mutation_rate,
            tournament_size=self.tournament_size,
            elitism=self.elitism,
            parsimony=self.parsimony,
        )

    def _path(self, evolution: Evolution, fitness: Fitness) -> Iterator[tuple[list[Program], np.ndarray]]:
        """The population after each generation of each run."""
        for rng in np.random.default_rng(self.random_state).spawn(self.n_runs):
            populations = evolution.generations(fitness, rng)
            for _ in range(self.generations):
                yield next(populations)

    def _leaf_columns(self, X: Any, leaves: list[Program] | None) -> np.ndarray:
        columns = by_column(X, range(X.shape[1]))
        return columns if leaves is None else evaluate(leaves, columns, self.n_jobs)

    def _best_on(
        self, monitor: Monitor, valid: RankingDataset, columns: np.ndarray, programs: list[Program]
    ) -> tuple[Program, np.ndarray]:
        """The best on the validation data among the first distinct formulas, with its scores there."""
        candidates = list(dict.fromkeys(programs))[: self.n_validated]
        scores = evaluate(candidates, columns, self.n_jobs)
        measure = monitor.measure
        if len(candidates) == 1 or measure is None:
            return candidates[0], scores[0]
        values = [measure.mean(measure.per_query(Scored(valid, row, n_jobs=self.n_jobs))) for row in scores]
        top = int(np.argmax(measure.worth(np.nan_to_num(values))))
        return candidates[top], scores[top]

    # -------------------------------------------------------------------------------------------------- description

    @property
    def formula_(self) -> str:
        """The formula as it was evolved."""
        return self._text(simplified=False)

    @property
    def simplified_formula_(self) -> str:
        """A shorter formula of the same value."""
        return self._text(simplified=True)

    def _text(self, simplified: bool) -> str:
        self.check_fitted()
        names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
        program = self.scorer_.program
        return to_text(simplify(program) if simplified else program, list(names))


def _same(scores: np.ndarray, valid: RankingDataset) -> np.ndarray:
    """Scores of the validation data that are known already."""
    return scores
