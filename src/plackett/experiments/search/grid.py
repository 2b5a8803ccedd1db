"""Grid search: all combinations of a few values per parameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from plackett._provenance import fulfils
from plackett.experiments.search.base import Objective
from plackett.models.search_space import SearchSpace, grid_values

__all__ = ["grid"]

#: Values of a range where the number of trials does not say how many.
STEPS = 3


@fulfils("tune.validation", paper="He and Ounis 2003, A study of parameter tuning for term frequency normalization")
def grid(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Try every combination: all values of a list, and as many equal steps of each range as ``n_trials`` allows.

    Without ``n_trials`` a range has three steps. The parameters as given are not among the trials unless they are on
    the grid.

    >>> grid(lambda setting, share=1.0: print(setting) or 0.0, {"C": (1, 10), "kernel": ("rbf",)}, n_trials=None,
    ...      out_of_time=lambda: False, random_state=0)
    {'C': 1, 'kernel': 'rbf'}
    {'C': 10, 'kernel': 'rbf'}
    """
    values = _values(space, STEPS)
    if n_trials is not None:
        size = math.prod(map(len, _values(space, 1)))
        if size > n_trials:
            raise ValueError(f"n_trials={n_trials} is too few for this grid: the lists alone make {size} settings")
        fitting = [_values(space, steps) for steps in range(1, n_trials + 1)]
        values = [found for found in fitting if math.prod(map(len, found)) <= n_trials][-1]
    for number, setting in enumerate(itertools.product(*values)):
        if number and out_of_time():
            return
        objective(dict(zip(space, setting, strict=True)))


def _values(space: SearchSpace, steps: int) -> list[list[object]]:
    return [grid_values(choice, steps) for choice in space.values()]
