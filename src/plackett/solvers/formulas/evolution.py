"""Genetic programming: a population of formulas, generation after generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett.scorers.formulas.machine import evaluate
from plackett.scorers.formulas.program import Program
from plackett.solvers.formulas.breeding import Breeder
from plackett.solvers.measure_objective import MeasureObjective

#: Scores of programs computed together.
_SCORES_AT_ONCE = 1 << 20
#: Number of digits of a fitness that count: the order of summation over queries must not change a selection.
_DIGITS = 12


class Fitness:
    """Value of a measure for formulas of a table, larger is better; each formula is run once."""

    def __init__(self, lists: MeasureObjective, features: np.ndarray, n_jobs: int | None) -> None:
        self.lists, self.features, self.n_jobs = lists, features, n_jobs
        self.known: dict[Program, float] = {}

    def __call__(self, programs: list[Program]) -> np.ndarray:
        """Value of each formula; those of the last call are remembered."""
        new = [program for program in dict.fromkeys(programs) if program not in self.known]
        step = max(1, _SCORES_AT_ONCE // max(self.features.shape[1], 1))
        for i in range(0, len(new), step):
            part = new[i : i + step]
            values = self.lists.values(evaluate(part, self.features, self.n_jobs))
            self.known.update(zip(part, np.round(values, _DIGITS).tolist(), strict=True))
        self.known = {program: self.known[program] for program in programs}
        return np.array([self.known[program] for program in programs])


@dataclass(frozen=True, kw_only=True)
class Evolution:
    """Single-population genetic programming with tournaments.

    Each new formula is, by chance, a crossover of two winners of tournaments, a mutation of one, or otherwise an
    unchanged winner; the best ``elitism`` formulas always survive.

    Parameters
    ----------
    breeder
        What formulas are made of.
    population_size
        Formulas in each generation.
    crossover_rate, mutation_rate
        Probabilities; the remainder to 1 is the rate of reproduction.
    tournament_size
        Number of formulas drawn; the best wins.
    elitism
        Number of best formulas that survive.
    parsimony
        Fitness penalty per node; of two equal formulas the shorter one always wins.
    """

    breeder: Breeder
    population_size: int
    crossover_rate: float
    mutation_rate: float
    tournament_size: int
    elitism: int
    parsimony: float

    def __post_init__(self) -> None:
        for name, least in (("population_size", 2), ("tournament_size", 1), ("elitism", 0)):
            whole(name, getattr(self, name), least=least)
        if self.elitism >= self.population_size:
            raise DataError(f"elitism={self.elitism}; give less than population_size={self.population_size}")
        rates = self.crossover_rate, self.mutation_rate
        if min(rates) < 0.0 or not sum(rates) <= 1.0 + 1e-9:
            raise DataError(
                f"crossover_rate={rates[0]} and mutation_rate={rates[1]} must not be negative, nor more than 1 together"
            )
        number("parsimony", self.parsimony, least=0.0)

    def merit(self, program: Program, value: float) -> float:
        """Fitness minus the size penalty of the formula."""
        return value - self.parsimony * program.size

    def generations(
        self, fitness: Callable[[list[Program]], np.ndarray], rng: np.random.Generator
    ) -> Iterator[tuple[list[Program], np.ndarray]]:
        """Endlessly: the population, the best formula first, and the fitness of each."""
        programs = self.breeder.first(rng, self.population_size)
        while True:
            values = fitness(programs)
            merits = [self.merit(program, value) for program, value in zip(programs, values, strict=True)]
            order = sorted(range(len(programs)), key=lambda i: (-merits[i], programs[i].size))
            programs = [programs[i] for i in order]
            yield programs, values[order]
            programs = self._offspring(programs, rng)

    def _offspring(self, ranked: list[Program], rng: np.random.Generator) -> list[Program]:
        children = list(dict.fromkeys(ranked))[: self.elitism]

        def winner() -> Program:
            return ranked[int(rng.integers(len(ranked), size=self.tournament_size).min())]

        while len(children) < self.population_size:
            chance = rng.random()
            if chance < self.crossover_rate:
                children.append(self.breeder.crossover(winner(), winner(), rng))
            elif chance < self.crossover_rate + self.mutation_rate:
                children.append(self.breeder.mutated(winner(), rng))
            else:
                children.append(winner())
        return children
