"""The search: successive halving of the portfolio, then the next best candidates and new settings in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.selection import MEMBERS, evaluations
from plackett.experiments.auto.trials import CandidateTrials, OutOfTimeError
from plackett.experiments.search.halving import halve

#: Candidates of one round of successive halving: 9 on a ninth of the splits, 3 on a third, 1 on all.
BRACKET = 9
#: Number of candidates to finish between two rounds.
FINISHED = 3
#: Maximum number of settings: more add nothing.
MOST = 90
#: Boosted candidates that decide whether to train all further, how many steps at most, and the share of the time that
#: deciding may take.
DECIDING, MOST_STEPS, DECIDING_SHARE = 2, 2, 0.15
#: With how many seeds there should be time to train the members.
SEEDS = 1.5
#: Share of the time that finishing a linear candidate may take.
LINEAR_SHARE = 0.03
#: Share of the time for the search, and how many candidates should be trained on all splits, if they have grown.
SEARCH_SHARE, COMPLETE = 0.75, 5


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
    trials: CandidateTrials, first: list[Candidate], more: Iterator[Candidate], budget: Budget, max_members: int,
    notify: Callable[[], None],
) -> str:  # fmt: skip
    """Try candidates until the budget is spent, and return why the search ended.

    Successive halving runs over the candidates in order, in several rounds, with splits as the effort. Between two
    rounds, the most promising candidates that were left behind are finished too, since a blend needs more than one.
    If the first boosted candidates are best with all their rounds, all boosted candidates are trained further.
    """
    waiting = itertools.islice(itertools.chain(first, more), budget.most)
    objective = _Objective(trials, budget, max_members, notify)
    steps = None
    try:
        while not objective.ended():
            bracket = [trials.add(candidate.grown(steps or 0)) for candidate in itertools.islice(waiting, BRACKET)]
            if not bracket:
                break
            if steps is None:
                steps = _growth(objective, bracket)
            objective.run((number, 0) for number in bracket)
            _finish_linear(objective, bracket)
            halve(objective, [{"candidate": number} for number in bracket], objective.ended)
            _finish(objective, FINISHED)
        else:
            return objective.why()
        # nothing new is left: the remaining time goes to candidates left behind
        _finish(objective, FINISHED if budget.n_trials is not None else len(trials.candidates))
    except OutOfTimeError:
        return "the time was up"
    return objective.why() if objective.ended() else "all settings were tried"


def _growth(objective: _Objective, bracket: list[int]) -> int:
    """By how many steps the boosted candidates should grow, from the first of them on one split."""
    trials, budget, steps = objective.trials, objective.budget, 0
    growing = [number for number in bracket if trials.candidates[number].may_grow]
    deciding = growing[:DECIDING]
    limit = np.inf if budget.n_trials is not None or budget.seconds is None else budget.seconds
    while deciding and steps < MOST_STEPS:
        objective.run((number, 0) for number in deciding)
        last = [
            trials.done(i) > 0 and trials.best_stage(i, 1) == len(trials.candidates[i].stages) - 1 for i in deciding
        ]
        if not all(last) or budget.spent() > DECIDING_SHARE * limit:
            break
        steps += 1
        for number in growing:
            trials.replace(number, trials.candidates[number].grown())
    if steps == 0 and deciding and all(_early(trials, number) for number in deciding):
        steps = -1
        for number in growing:
            trials.replace(number, trials.candidates[number].grown(steps))
    if steps > 0 and np.isfinite(limit):
        objective.run((number, 0) for number in deciding)
        seconds = float(np.mean([trials.refit_seconds(i) for i in deciding if trials.done(i)] or [0.0]))
        trials.keep_splits(int((SEARCH_SHARE * limit - budget.spent()) / max(COMPLETE * seconds, 1e-9)))
    return steps


def _early(trials: CandidateTrials, number: int) -> bool:
    """Whether a quarter of the rounds or fewer are best on the first split."""
    stages = trials.candidates[number].stages
    best = stages[trials.best_stage(number, 1)] if trials.done(number) else None
    return best is not None and stages[-1] is not None and 4 * best <= stages[-1]


def _finish_linear(objective: _Objective, bracket: list[int]) -> None:
    """Finish the linear candidates if that takes little time: one unlucky split should not keep them from the blend."""
    trials, seconds = objective.trials, objective.budget.seconds
    for number in bracket:
        if not trials.candidates[number].linear or not trials.done(number) or objective.ended():
            continue
        cost = trials.refit_seconds(number) * len(trials.splits)
        if objective.budget.n_trials is not None or seconds is None or cost <= LINEAR_SHARE * seconds:
            objective({"candidate": number})


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

    def __init__(self, trials: CandidateTrials, budget: Budget, max_members: int, notify: Callable[[], None]) -> None:
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
        """Reserve the time needed to select the members and to train them on all data."""
        trials = self.trials
        known = [i for i in range(len(trials.candidates)) if trials.done(i) and i not in trials.errors]
        # a sixth member and further ones have little weight: they use the time of further seeds
        n_members = min(self.max_members, MEMBERS)
        best = sorted(known, key=lambda i: (trials.done(i), self.lead(i)), reverse=True)[:n_members]
        seconds = SEEDS * sum(trials.refit_seconds(i) for i in best) + evaluations(len(known)) * trials.measure_seconds
        self.budget.reserve = trials.reserve = seconds

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
