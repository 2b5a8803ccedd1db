"""The solvers by name.

A solver is a dataclass of settings with the field ``max_iter`` and a method ``rounds(problem, start, rng)``, which
yields the best weights so far after each round. Some know the function by its values only (`objective.Problem`), some
look into the linear model (`problem.LinearProblem`).
"""

from __future__ import annotations

from typing import Any

from plackett._base.errors import DataError
from plackett.solvers.search.annealing import Annealing
from plackett.solvers.search.coordinate import Coordinate
from plackett.solvers.search.directions import Directions
from plackett.solvers.search.random_optimisation import RandomOptimisation

SOLVERS: dict[str, Any] = {
    "coordinate": Coordinate,
    "directions": Directions,
    "annealing": Annealing,
    "random": RandomOptimisation,
}


def make_solver(solver: Any) -> Any:
    """The solver of a name, with its default settings; a solver object as it is."""
    if hasattr(solver, "rounds"):
        return solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise DataError(f"solver={solver!r:.80}; the solvers are {', '.join(SOLVERS)}, or a solver object")
    return SOLVERS[solver]()
