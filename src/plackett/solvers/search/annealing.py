"""Simulated annealing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett.solvers.search.objective import Problem

__all__ = ["Annealing"]


@dataclass(frozen=True, kw_only=True)
class Annealing:
    r"""Simulated annealing: random steps that may also lower the value, less and less often.

    Each of `n_chains` walks proposes a Gaussian step in every iteration and takes it with probability :math:`\min(1,
    e^{(v' - v)/T})`. The temperature T decreases geometrically from `temperature` to `final_temperature`, and the step
    size with its square root. The best weights seen are kept. All chains are evaluated together.

    Parameters
    ----------
    max_iter
        Iterations of every chain.
    n_chains
        Number of independent walks.
    temperature, final_temperature
        Initial and final temperature, in units of the measure.
    step
        Standard deviation of the first steps, relative to weights whose absolute values sum to 1.

    Examples
    --------
    A function with many local maxima, whose largest value is at 2:

    >>> class Toy:
    ...     size = 1
    ...     def values(self, weights):
    ...         return (np.cos(6 * (weights - 2)) - 0.1 * (weights - 2) ** 2)[:, 0]
    ...     def normalised(self, weights):
    ...         return weights
    >>> solver = Annealing(temperature=1.0, step=1.0)
    >>> for best in solver.rounds(Toy(), np.array([-5.0]), np.random.default_rng(0)): pass
    >>> round(float(best[0]), 1)
    2.0

    References
    ----------
    Kirkpatrick, Gelatt, Vecchi: Optimization by simulated annealing. Science 1983.
    """

    max_iter: int = 500
    n_chains: int = 8
    temperature: float = 0.02
    final_temperature: float = 1e-4
    step: float = 0.1

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.n_chains < 1 or not self.step > 0:
            raise DataError(f"{self}: max_iter and n_chains must be 1 or more, and step positive")
        if not 0 < self.final_temperature <= self.temperature:
            raise DataError(f"{self}: give 0 < final_temperature <= temperature")

    def rounds(self, problem: Problem, start: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The best weights after each iteration."""
        here = problem.normalised(np.tile(np.asarray(start, np.float64), (self.n_chains, 1)))
        value = problem.values(here)
        best, highest = here[0].copy(), float(value[0])
        for heat in np.geomspace(self.temperature, self.final_temperature, self.max_iter):
            size = self.step * np.sqrt(heat / self.temperature)
            proposals = problem.normalised(here + size * rng.normal(size=here.shape))
            proposal_values = problem.values(proposals)
            gain = np.minimum((proposal_values - value) / heat, 0.0)
            taken = rng.random(self.n_chains) < np.exp(gain)
            here[taken], value[taken] = proposals[taken], proposal_values[taken]
            top = int(np.argmax(proposal_values))
            if proposal_values[top] > highest:
                best, highest = proposals[top].copy(), float(proposal_values[top])
            yield best.copy()
