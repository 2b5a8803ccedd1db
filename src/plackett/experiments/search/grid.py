"""Grid search: all combinations of a few values per parameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace, grid_values
from plackett.experiments.search.base import Objective

__all__ = ["grid"]

#: Number of values of a range if the number of trials does not determine it.
STEPS = 3


def grid(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Try every combination: all values of a list, and as many equal steps of each range as ``n_trials`` allows.

    Without ``n_trials``, a range has three steps. The parameters as given are not tried unless they are on the grid.
    Lists are never cut: too large a grid is rejected (`check_trials`), because part of a grid would be a random search
    under another name.

    >>> grid(lambda setting, share=1.0: print(setting) or 0.0, {"C": (1, 10), "kernel": ("rbf",)}, n_trials=None,
    ...      out_of_time=lambda: False, random_state=0)
    {'C': 1, 'kernel': 'rbf'}
    {'C': 10, 'kernel': 'rbf'}

    References
    ----------
    He, Ounis: A study of parameter tuning for term frequency normalization. CIKM 2003.
    """
    values = _values(space, STEPS)
    if n_trials is not None:
        check_trials({"this grid": space}, n_trials)
        fitting = [_values(space, steps) for steps in range(1, n_trials + 1)]
        values = [choices for choices in fitting if math.prod(map(len, choices)) <= n_trials][-1]
    for number, setting in enumerate(itertools.product(*values)):
        if number and out_of_time():
            return
        objective(dict(zip(space, setting, strict=True)))


def check_trials(spaces: Mapping[str, SearchSpace], n_trials: int) -> None:
    """Reject a number of trials that is smaller than some ranker's grid with one value per range.

    >>> check_trials({"SVMMAP": {"C": (1, 10, 100)}, "ListNet": {"alpha": (0.1, 1)}}, 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: n_trials=2 is too few for a grid search: SVMMAP has 3 settings (3 of C); ...
    """
    grids = {
        name: {key: len(grid_values(choice, 1)) for key, choice in space.items()} for name, space in spaces.items()
    }
    sizes = {name: math.prod(counts.values()) for name, counts in grids.items()}
    large = [f"{name} has {sizes[name]} settings ({_product(grids[name])})" for name in grids if sizes[name] > n_trials]
    if large:
        raise DataError(
            f"n_trials={n_trials} is too few for a grid search: {', '.join(large)}; allow {max(sizes.values())} "
            "trials, or use search='random', which tries as many settings as n_trials allows"
        )


def _product(size: dict[str, int]) -> str:
    return " × ".join(f"{count} of {name}" for name, count in size.items() if count > 1)


def _values(space: SearchSpace, steps: int) -> list[list[object]]:
    return [grid_values(choice, steps) for choice in space.values()]
