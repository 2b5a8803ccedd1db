"""A formula as a program: its tree in prefix order, one number for each node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.scorers.formulas.operations import LIMIT, OPERATIONS

#: Codes of nodes: 0 or more for a feature, -1 for a constant, -2 or less for an operation.
CONSTANT = -1
#: Longer programs are rejected: nobody reads them, and their stack takes memory.
MAX_SIZE = 4096


def operation_code(number: int) -> int:
    """Code of the operation with this index in `OPERATIONS`."""
    return -2 - number


def arity(code: int) -> int:
    """Number of arguments of a node."""
    return OPERATIONS[-2 - code].arity if code < CONSTANT else 0


@dataclass(frozen=True)
class Program:
    """A formula in prefix order: an operation comes before its arguments.

    Attributes
    ----------
    code
        Node by node: number of a feature, -1 for a constant, -2 − index in `OPERATIONS` for an operation.
    constants
        The constant of each node that is one, 0 elsewhere.

    Examples
    --------
    >>> program = Program((-2, 0, -1), (0.0, 0.0, 2.5))
    >>> program.size, program.depth
    (3, 1)
    """

    code: tuple[int, ...]
    constants: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.code)

    @cached_property
    def depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        open_, deepest = [1], 0
        for code in self.code:
            while not open_[-1]:
                open_.pop()
            open_[-1] -= 1
            deepest = max(deepest, len(open_) - 1)
            if n := arity(code):
                open_.append(n)
        return deepest

    def end(self, start: int) -> int:
        """One past the last node of the tree that begins at a node."""
        missing, i = 1, start
        while missing:
            missing += arity(self.code[i]) - 1
            i += 1
        return i

    def part(self, start: int) -> Program:
        """The tree that begins at a node."""
        end = self.end(start)
        return Program(self.code[start:end], self.constants[start:end])

    def arguments(self) -> list[Program]:
        """The trees under the root."""
        parts, i = [], 1
        for _ in range(arity(self.code[0])):
            parts.append(self.part(i))
            i += parts[-1].size
        return parts

    def replaced(self, start: int, part: Program) -> Program:
        """The program with the tree that begins at a node replaced by another one."""
        end = self.end(start)
        return Program(
            self.code[:start] + part.code + self.code[end:],
            self.constants[:start] + part.constants + self.constants[end:],
        )

    def filled(self, leaves: list[Program]) -> Program:
        """The program with each feature j replaced by the formula ``leaves[j]``."""
        code: list[int] = []
        constants: list[float] = []
        for c, value in zip(self.code, self.constants, strict=True):
            leaf = leaves[c] if c >= 0 else None
            code += [c] if leaf is None else leaf.code
            constants += [value] if leaf is None else leaf.constants
        return Program(tuple(code), tuple(constants))

    @classmethod
    def of(cls, number: int, *arguments: Program) -> Program:
        """An operation, given by its index, applied to formulas."""
        code: tuple[int, ...] = (operation_code(number),)
        constants: tuple[float, ...] = (0.0,)
        for argument in arguments:
            code, constants = code + argument.code, constants + argument.constants
        return cls(code, constants)

    @classmethod
    def constant(cls, value: float) -> Program:
        """A constant alone."""
        return cls((CONSTANT,), (float(value),))

    @classmethod
    def feature(cls, number: int) -> Program:
        """A feature alone."""
        return cls((number,), (0.0,))

    def check(self, n_features: int) -> None:
        """Reject anything that is not a complete formula over this many features."""
        if not 1 <= self.size <= MAX_SIZE or len(self.constants) != self.size:
            raise DataError(f"a formula of {self.size} nodes; there may be 1 to {MAX_SIZE}")
        missing = 1
        for i, (code, constant) in enumerate(zip(self.code, self.constants, strict=True)):
            if code >= n_features or code < operation_code(len(OPERATIONS) - 1):
                raise DataError(f"node {i} of the formula has the unknown code {code}")
            if not abs(constant) <= LIMIT or (constant and code != CONSTANT):
                raise DataError(f"node {i} of the formula has the constant {constant}")
            if missing == 0:
                raise DataError(f"the formula ends at node {i} of {self.size}")
            missing += arity(code) - 1
        if missing:
            raise DataError(f"the formula lacks {missing} of its arguments")

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes and constants as arrays."""
        return np.array(self.code, np.int32), np.array(self.constants, np.float64)
