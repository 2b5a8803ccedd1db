"""Successive halving: many settings with little effort, the better ones with more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from plackett._base.search_space import SearchSpace
from plackett.experiments.search.base import DEFAULT_TRIALS, Objective
from plackett.experiments.search.random import settings_at_random

__all__ = ["halving"]

#: One in this many settings advances to the next round, which spends this many times the effort on each.
FACTOR = 3


def halving(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Try ``n_trials`` settings with little effort, then the best third of each round with three times as much.

    With 9 settings, this means 9 with 1/9 of the effort, 3 with 1/3 and 1 with all of it: the cost of 3 full trainings.
    The effort is the parameter that a ranker declares as its ``effort`` (``n_estimators``, ``max_iter``, …), unless it
    is searched over; a ranker without one gets a share of the training queries. Settings are drawn as in random search
    and include the parameters as given. When time is up, the best setting so far is still trained in full.

    >>> halving(lambda setting, share=1.0: print(f"{share:.2f}", setting) or setting.get("C", 0.0), {"C": (1.0, 10.0)},
    ...         n_trials=3, out_of_time=lambda: False, random_state=1)
    0.33 {}
    0.33 {'C': 1.0}
    0.33 {'C': 10.0}
    1.00 {'C': 10.0}

    References
    ----------
    Jamieson, Talwalkar: Non-stochastic best arm identification and hyperparameter optimization. AISTATS 2016.
    """
    halve(
        objective,
        list(itertools.islice(settings_at_random(space, random_state), n_trials or DEFAULT_TRIALS)),
        out_of_time,
    )


def halve(objective: Objective, settings: list[dict[str, Any]], out_of_time: Callable[[], bool]) -> None:
    """Successive halving of given settings; as in `halving`, the last one is trained in full."""
    left = settings
    rounds = max(0, math.ceil(math.log(len(left), FACTOR) - 1e-9))
    for step in range(rounds, 0, -1):
        worth: dict[int, float] = {}
        for number, setting in enumerate(left):
            if number and out_of_time():
                break
            worth[number] = objective(setting, FACTOR**-step)
        best_first = sorted(worth, key=lambda number: -worth[number])  # stable: the first one if tied
        keep = 1 if out_of_time() else math.ceil(len(left) / FACTOR)
        left = [left[number] for number in best_first[:keep]]
        if out_of_time():
            break
    for number, setting in enumerate(left):
        if number and out_of_time():
            return
        objective(setting)
