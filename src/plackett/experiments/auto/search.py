"""The search: successive halving of the portfolio, then the next best candidates and new settings in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.trials import OutOfTimeError, Trials
from plackett.experiments.search.halving import halve

__all__ = ["Budget", "search"]

#: Candidates of one round of successive halving: 9 on a ninth of the splits, 3 on a third, 1 on all.
BRACKET = 9
#: Number of candidates to finish between two rounds.
FINISHED = 3
#: Maximum number of settings: more add nothing.
MOST = 90


@dataclass
class Budget:
    """When to end the search: after some time, after some settings, or after some settings without improvement."""

    seconds: float | None
    n_trials: int | None
    patience: int | None
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.began = self.clock()
        self.reserve = 0.0

    def spent(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.began

    def out_of_time(self) -> bool:
        """Whether no further training may start."""
        return self.n_trials is None and self.seconds is not None and self.spent() + self.reserve >= self.seconds

    @property
    def most(self) -> int:
        """Maximum number of settings to try."""
        return MOST if self.n_trials is None else self.n_trials


def search(
    trials: Trials, first: list[Candidate], more: Iterator[Candidate], budget: Budget, max_members: int,
    notify: Callable[[], None],
) -> str:  # fmt: skip
    """Try candidates until the budget is spent, and return why the search ended.

    Successive halving runs over the candidates in order, in several rounds, with splits as the effort. Between two
    rounds, the most promising candidates that were left behind are finished too, since a blend needs more than one.
    """
    waiting = itertools.islice(itertools.chain(first, more), budget.most)
    objective = _Objective(trials, budget, max_members, notify)
    try:
        while not objective.ended():
            bracket = [{"candidate": trials.add(candidate)} for candidate in itertools.islice(waiting, BRACKET)]
            if not bracket:
                break
            objective.run((setting["candidate"], 0) for setting in bracket)
            halve(objective, bracket, objective.ended)
            _finish(objective, FINISHED)
        else:
            return objective.why()
        # nothing new is left: the remaining time goes to candidates left behind
        _finish(objective, FINISHED if budget.n_trials is not None else len(trials.candidates))
    except OutOfTimeError:
        return "the time was up"
    return objective.why() if objective.ended() else "all settings were tried"


def _finish(objective: _Objective, n: int) -> None:
    """Finish the most promising candidates that were left behind."""
    trials = objective.trials
    for _ in range(n):
        if objective.ended():
            return
        behind = [i for i in range(len(trials.candidates)) if 0 < trials.done(i) < len(trials.splits)]
        behind = [i for i in behind if i not in trials.errors]
        if not behind:
            return
        objective({"candidate": max(behind, key=objective.lead)})


class _Objective:
    """Worth of a candidate on a share of the splits."""

    def __init__(self, trials: Trials, budget: Budget, max_members: int, notify: Callable[[], None]) -> None:
        self.trials, self.budget, self.max_members, self.notify = trials, budget, max_members, notify
        self.best, self.since = -np.inf, 0

    def __call__(self, setting: dict[str, int], share: float = 1.0) -> float:
        trials, number = self.trials, setting["candidate"]
        n = max(1, round(share * len(trials.splits)))
        self.run((number, split) for split in range(n))
        if number in trials.errors:
            return -np.inf
        worth = trials.worth(number, n)
        if n == len(trials.splits):
            self.since = 0 if worth > self.best else self.since + 1
            self.best = max(self.best, worth)
        return worth

    def run(self, wanted: Iterable[tuple[int, int]]) -> None:
        """Train candidates on splits."""

        def after() -> None:
            self._reserve()
            self.notify()

        self.trials.run_all(wanted, self.budget.out_of_time, after)

    def lead(self, number: int) -> float:
        """How far a candidate is ahead of the best complete one, on the splits it has finished."""
        trials = self.trials
        n = trials.done(number)
        others = [trials.worth(i, n) for i in trials.complete()]
        return trials.worth(number, n) - max(others, default=0.0)

    def _reserve(self) -> None:
        """Reserve the time needed to train the members on all data."""
        trials = self.trials
        known = [i for i in range(len(trials.candidates)) if trials.done(i) and i not in trials.errors]
        seconds = sorted((trials.refit_seconds(i) for i in known), reverse=True)[: self.max_members]
        self.budget.reserve = sum(seconds)

    def ended(self) -> bool:
        """Whether the search should end; never before there is a result."""
        if not self.trials.outcomes:
            return False
        patience = self.budget.patience
        return self.budget.out_of_time() or (patience is not None and self.since >= patience)

    def why(self) -> str:
        """Why it ended."""
        if self.budget.out_of_time():
            return "the time was up"
        return f"{self.since} settings in a row brought no improvement"
