"""No search: the parameters as given."""

from __future__ import annotations

from collections.abc import Callable

from plackett._base.search_space import SearchSpace
from plackett.experiments.search.base import Objective


def nothing(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Train once, with the ranker's own parameters."""
    objective({})
