"""Line searches along promising directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett.solvers.search.lines import make_line
from plackett.solvers.search.problem import LinearProblem

__all__ = ["Directions"]


@dataclass(frozen=True, kw_only=True)
class Directions:
    """Line searches along promising directions, instead of one feature after the other.

    A round searches along the steepest descent of the logistic pair loss at the current scores, along random
    directions, and along the total move of the round. A random direction costs as much as a coordinate, but far
    fewer of them than features are needed, so this suits data with many features.

    Parameters
    ----------
    max_iter
        Maximum number of rounds.
    tol, patience
        Stop after `patience` rounds in a row that improve the measure by no more than `tol`.
    n_random
        Random directions in each round.
    line_search
        ``"exact"``, ``"steps"`` or ``"auto"``: see `plackett.solvers.search.coordinate.Coordinate`.

    References
    ----------
    Robertson, Zaragoza: On rank-based effectiveness measures and optimization. Information Retrieval 2007.
    """

    max_iter: int = 50
    tol: float = 1e-4
    patience: int = 5
    n_random: int = 5
    line_search: str = "auto"

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.patience < 1 or self.n_random < 0 or not self.tol >= 0:
            raise DataError(f"{self}: max_iter and patience must be 1 or more, n_random and tol 0 or more")

    def rounds(self, problem: LinearProblem, start: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The weights after each round."""
        line = make_line(self.line_search, problem.lists)
        weights, waited = problem.normalised(start), 0
        value = float(problem.values(weights[None])[0])
        for _ in range(self.max_iter):
            last, first = value, weights
            promising = problem.promising(problem.scores(weights))
            for direction in (promising, *rng.normal(size=(self.n_random, problem.size)), None):
                direction = problem.normalised(weights - first if direction is None else direction)
                step, value = line(problem.scores(weights), problem.scores(direction))
                weights = weights + step * direction
            weights = problem.normalised(weights)
            yield weights.copy()
            waited = 0 if value - last > self.tol else waited + 1
            if waited == self.patience:
                return
