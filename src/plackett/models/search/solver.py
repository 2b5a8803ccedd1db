"""What a solver is: something that improves weights round by round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

__all__ = ["Problem", "Solver"]


class Problem(Protocol):
    """A function of weights to be maximised, of which only values are known."""

    @property
    def size(self) -> int:
        """Number of weights."""

    def values(self, weights: np.ndarray) -> np.ndarray:
        """Value of each row of weights."""

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """The same weights, or rows of them, in a form that keeps steps of one size meaningful."""


class Solver(Protocol):
    """A dataclass of settings with this method."""

    max_iter: int

    def rounds(self, problem: Problem, start: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The best weights so far, after each round; at most `max_iter` of them."""
