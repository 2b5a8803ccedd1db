"""Random optimisation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett.solvers.search.objective import Problem

__all__ = ["RandomOptimisation"]

#: The step grows and shrinks by these factors, but not below a share of its initial size.
_GROW, _SHRINK, _LEAST = 1.3, 0.9, 1e-3


@dataclass(frozen=True, kw_only=True)
class RandomOptimisation:
    """Random optimisation: the best of some Gaussian steps from the best point so far, if it is better.

    The size of the steps grows after a success and shrinks after a failure (Solis and Wets). It cannot leave a hill
    that is wider than its steps; restarts help.

    Parameters
    ----------
    max_iter
        Iterations.
    n_candidates
        Steps tried in each, evaluated together.
    step
        Standard deviation of the first steps, relative to weights whose absolute values sum to 1.

    References
    ----------
    Matyas: Random optimization. Automation and Remote Control 1965.
    Solis, Wets: Minimization by random search techniques. Mathematics of Operations Research 1981.
    """

    max_iter: int = 200
    n_candidates: int = 16
    step: float = 0.1

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.n_candidates < 1 or not self.step > 0:
            raise DataError(f"{self}: max_iter and n_candidates must be 1 or more, and step positive")

    def rounds(self, problem: Problem, start: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The best weights after each iteration."""
        best, size = problem.normalised(np.array(start, np.float64)), self.step
        highest = float(problem.values(best[None])[0])
        for _ in range(self.max_iter):
            proposals = problem.normalised(best + size * rng.normal(size=(self.n_candidates, best.size)))
            proposal_values = problem.values(proposals)
            top = int(np.argmax(proposal_values))
            better = proposal_values[top] > highest
            if better:
                best, highest = proposals[top], float(proposal_values[top])
            size = max(size * (_GROW if better else _SHRINK), _LEAST * self.step)
            yield best.copy()
