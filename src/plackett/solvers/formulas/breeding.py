"""Random formulas, and new formulas from old ones: crossover and mutation within limits of size and depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett.scorers.formulas.operations import OPERATIONS, operation_numbers
from plackett.scorers.formulas.program import CONSTANT, MAX_SIZE, Program, arity, operation_code

#: Attempts to breed a child within the limits before a parent is used instead.
_TRIES = 8
#: Probability of choosing an inner node for crossover (Koza): most nodes are leaves, and swapping them changes little.
_INNER = 0.9
_DEEPEST = 100
#: Deepest new tree in a mutation.
_NEW_DEPTH = 3


@dataclass(frozen=True)
class Breeder:
    """What formulas are made of, and how large they may be.

    Parameters
    ----------
    n_leaves
        Number of features.
    functions
        Names of operations.
    max_depth, max_size
        Maximum number of edges from the root to a leaf, and maximum number of nodes.
    constant_share
        Share of the leaves that are constants.
    constant_range
        Range from which constants are drawn uniformly, with three decimal places.
    """

    n_leaves: int
    functions: tuple[str, ...]
    max_depth: int
    max_size: int
    constant_share: float
    constant_range: tuple[float, float]

    def __post_init__(self) -> None:
        operation_numbers(self.functions)
        whole("max_depth", self.max_depth, least=1, most=_DEEPEST)
        whole("max_size", self.max_size, least=3, most=MAX_SIZE)
        number("constant_share", self.constant_share, least=0.0, below=1.0)
        low, high = self.constant_range
        if not (np.isfinite(low) and np.isfinite(high) and low <= high and max(-low, high) <= 1e30):
            raise DataError(f"constant_range={self.constant_range}; give two numbers, the smaller one first")

    def fits(self, program: Program) -> bool:
        """Whether a formula is within the limits."""
        return program.size <= self.max_size and program.depth <= self.max_depth

    def leaf(self, rng: np.random.Generator) -> Program:
        """A feature or a constant."""
        if rng.random() < self.constant_share:
            return Program.constant(self._constant(rng.uniform(*self.constant_range)))
        return Program.feature(int(rng.integers(self.n_leaves)))

    def grown(self, rng: np.random.Generator, depth: int, size: int, full: bool) -> Program:
        """A random tree; ``full`` has leaves at the given depth only, as far as the size allows."""
        numbers = [k for k in operation_numbers(self.functions) if OPERATIONS[k].arity < size]
        if depth == 0 or not numbers or (not full and rng.random() < 0.3):
            return self.leaf(rng)
        number = numbers[int(rng.integers(len(numbers)))]
        arguments, left = [], size - 1
        for later in range(
            OPERATIONS[number].arity - 1, -1, -1
        ):  # an equal share of the remaining nodes, so that all arguments can grow
            arguments.append(self.grown(rng, depth - 1, left // (later + 1), full))
            left -= arguments[-1].size
        return Program.of(number, *arguments)

    def first(self, rng: np.random.Generator, n: int) -> list[Program]:
        """A first population: ramped half-and-half (depths 1, 2, … and full or not in turn), duplicates redrawn."""
        distinct: dict[Program, None] = {}
        depths = range(1, self.max_depth + 1)
        for i in range(n * _TRIES):
            distinct[self.grown(rng, depths[i // 2 % len(depths)], self.max_size, i % 2 == 0)] = None
            if len(distinct) == n:
                return list(distinct)
        programs = list(distinct)  # fewer different formulas than requested: repeat them
        return [programs[i % len(programs)] for i in range(n)]

    def crossover(self, a: Program, b: Program, rng: np.random.Generator) -> Program:
        """``a`` with one of its trees replaced by one of ``b``'s."""
        for _ in range(_TRIES):
            child = a.replaced(_random_node(a, rng), b.part(_random_node(b, rng)))
            if self.fits(child):
                return child
        return a

    def mutated(self, a: Program, rng: np.random.Generator) -> Program:
        """One of three changes, at a random node: a new tree, another node of the same kind, a constant moved."""
        change = (self._new_tree, self._other_node, self._moved_constant)[int(rng.integers(3))]
        for _ in range(_TRIES):
            child = change(a, rng)
            if self.fits(child):
                return child
        return a

    def _new_tree(self, a: Program, rng: np.random.Generator) -> Program:
        return a.replaced(_random_node(a, rng), self.grown(rng, min(_NEW_DEPTH, self.max_depth), self.max_size, False))

    def _other_node(self, a: Program, rng: np.random.Generator) -> Program:
        i = int(rng.integers(a.size))
        if (n := arity(a.code[i])) == 0:
            return a.replaced(i, self.leaf(rng))
        numbers = [k for k in operation_numbers(self.functions) if OPERATIONS[k].arity == n]
        code = operation_code(numbers[int(rng.integers(len(numbers)))])
        return Program((*a.code[:i], code, *a.code[i + 1 :]), a.constants)

    def _moved_constant(self, a: Program, rng: np.random.Generator) -> Program:
        constant_nodes = [i for i, code in enumerate(a.code) if code == CONSTANT]
        if not constant_nodes:
            return self._other_node(a, rng)
        i = constant_nodes[int(rng.integers(len(constant_nodes)))]
        value = a.constants[i] + 0.2 * (self.constant_range[1] - self.constant_range[0]) * rng.normal()
        return a.replaced(i, Program.constant(self._constant(value)))

    @staticmethod
    def _constant(value: float) -> float:
        return round(float(value), 3) + 0.0  # no -0


def _random_node(program: Program, rng: np.random.Generator) -> int:
    """Index of a random node, usually an inner one."""
    inner = [i for i, code in enumerate(program.code) if code < CONSTANT]
    if inner and rng.random() < _INNER:
        return inner[int(rng.integers(len(inner)))]
    return int(rng.integers(program.size))
