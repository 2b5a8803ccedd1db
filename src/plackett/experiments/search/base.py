"""The interface of searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from plackett._base.search_space import SearchSpace

#: Number of trials if neither a number nor a time is given.
DEFAULT_TRIALS = 10


class Objective(Protocol):
    """Trains with a setting, records the trial, and returns how good it was."""

    def __call__(self, setting: dict[str, Any], share: float = 1.0) -> float:
        """Value of a setting on validation data: larger is better, −∞ if training failed or there is no value.

        ``share`` is the part of the full effort (rounds, iterations or training queries) to spend on it; only
        settings tried with the full effort can be chosen.
        """


class Search(Protocol):
    """Decides what to try."""

    def __call__(
        self,
        objective: Objective,
        space: SearchSpace,
        *,
        n_trials: int | None,
        out_of_time: Callable[[], bool],
        random_state: int,
    ) -> None:
        """Call the objective with settings from the space.

        At most ``n_trials`` of them; None leaves the number to the search. No trial starts once ``out_of_time``
        returns true, except the first, which always runs.
        """


def frozen(setting: dict[str, Any]) -> str:
    """A setting as a key, to recognise settings that were tried before."""
    return repr(sorted(setting.items()))
