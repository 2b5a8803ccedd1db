"""Random search."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from plackett._base.search_space import SearchSpace, value_at
from plackett.experiments.search.base import Objective, frozen

__all__ = ["random"]

#: Number of draws in a row without a new setting after which the space counts as exhausted.
PATIENCE = 100


def random(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Try random settings without repetition, starting with the parameters as given.

    The draws are points of a scrambled Halton sequence: each is uniform in the space, and together they cover every
    range evenly, which a few independent draws do not.

    >>> random(lambda setting, share=1.0: print(setting) or 0.0, {"C": (1, 10)}, n_trials=9,
    ...        out_of_time=lambda: False, random_state=1)
    {}
    {'C': 1}
    {'C': 10}

    References
    ----------
    Bergstra, Bengio: Random search for hyper-parameter optimization. JMLR 2012.
    Halton: On the efficiency of certain quasi-random sequences of points in evaluating multi-dimensional integrals.
    Numerische Mathematik 1960.
    """
    for number, setting in enumerate(itertools.islice(settings_at_random(space, random_state), n_trials)):
        if number and out_of_time():
            return
        objective(setting)


def settings_at_random(space: SearchSpace, random_state: int) -> Iterator[dict[str, Any]]:
    """The parameters as given, then distinct settings from the space until none are left."""
    from scipy.stats.qmc import Halton

    yield {}
    points = Halton(max(1, len(space)), seed=random_state)
    seen: set[str] = set()
    while space:
        for _ in range(PATIENCE):
            shares = points.random(1)[0].tolist()
            setting = {
                name: value_at(choice, share) for (name, choice), share in zip(space.items(), shares, strict=True)
            }
            if frozen(setting) not in seen:
                break
        else:
            return
        seen.add(frozen(setting))
        yield setting
