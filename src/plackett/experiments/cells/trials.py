"""The trials of one cell: what a search calls to find out how good a setting is."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import build, fit, fit_parameters, last_step, of_own_steps, predict, takes_dataset
from plackett.experiments.cells.cell import CellTrial
from plackett.experiments.contestants import Contestant
from plackett.experiments.effort import effort_of, full_effort, settled
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored

#: Called after each trial with the number of trials so far and the best validation value.
Notify = Callable[[int, float | None], None]


@dataclass(frozen=True)
class Protocol:
    """How every ranker of an experiment is searched, trained and tested."""

    select: Measure
    search: str | None = None
    n_trials: int | None = None
    time_budget: float | None = None
    refit: bool = False
    early_stopping: bool = True
    random_state: int = 0

    def to_json(self) -> dict[str, Any]:
        """Everything except the measure, as JSON."""
        names = ("search", "n_trials", "time_budget", "refit", "early_stopping", "random_state")
        return {name: getattr(self, name) for name in names}


class SearchTrials:
    """The objective of a search: trains, records, and keeps the best ranker."""

    def __init__(self, contestant: Contestant, fold: Any, protocol: Protocol, n_jobs: int, notify: Notify) -> None:
        self.ranker = contestant.with_threads(n_jobs)
        self.effort = effort_of(contestant.ranker, contestant.space)
        self.fold = fold
        self.valid = getattr(fold, "valid", None)
        self.protocol = protocol
        self.n_jobs = n_jobs
        self.notify = notify
        self.done: list[CellTrial] = []
        self.best: tuple[float, int, Any] | None = None
        self.error: Exception | None = None
        self.began = time.perf_counter()

    def __call__(self, setting: dict[str, Any], share: float = 1.0) -> float:
        """Value of a setting on the validation part; −∞ if training fails, which is recorded."""
        start = time.perf_counter()
        messages: list[str] = []
        try:
            with _collected(messages):
                ranker = self.fitted(self.shortened(setting, share), self.data(share))
            seconds = time.perf_counter() - start
            value = None if self.valid is None else self.value(ranker, self.valid)
        except Exception as error:
            self.error = self.error or error
            seconds, line = time.perf_counter() - start, _line(error)
            self.done.append(CellTrial(setting, None, seconds, share, error=line, warnings=tuple(messages)))
            self.notify(len(self.done), self.best_value())
            return -np.inf
        self.done.append(CellTrial(setting, value, seconds, share, warnings=tuple(messages)))
        worth = self.worth(value)
        if share == 1.0 and (self.best is None or worth > self.best[0]):
            self.best = worth, len(self.done) - 1, ranker
        self.notify(len(self.done), self.best_value())
        return worth

    def chosen(self) -> tuple[int, Any]:
        """Number of the best trial, and its ranker."""
        if self.best is None:
            assert self.error is not None
            raise self.error
        if self.best[0] == -np.inf and len(self.done) > 1:
            raise DataError(f"{self.protocol.select} has no value on the validation part; select by another measure")
        return self.best[1:]

    def best_value(self) -> float | None:
        """Validation value of the best trial so far."""
        return None if self.best is None else self.done[self.best[1]].validation

    def worth(self, value: float | None) -> float:
        """The validation value, with its sign changed if smaller is better."""
        if value is None or np.isnan(value):
            return -np.inf
        return self.protocol.select.worth(value)

    def value(self, ranker: Any, data: RankingDataset) -> float:
        """Mean of the selecting measure."""
        return self.value_of(data, predict(ranker, data))

    def value_of(self, data: RankingDataset, scores: np.ndarray) -> float:
        """Mean of the selecting measure for given scores."""
        scored = Scored(data, scores, random_state=self.protocol.random_state, n_jobs=self.n_jobs)
        return self.protocol.select.mean(self.protocol.select.per_query(scored))

    def out_of_time(self) -> bool:
        """Whether no further trial should start."""
        budget = self.protocol.time_budget
        return budget is not None and time.perf_counter() - self.began >= budget

    # -------------------------------------------------------------------------------------------------------- train

    def fitted(self, setting: dict[str, Any], data: RankingDataset, *, watch: bool = True) -> Any:
        """A fresh ranker, trained."""
        ranker = build(self.ranker, setting, self.protocol.random_state)
        watched = self.valid if watch and self.protocol.early_stopping and watches(ranker) else None
        learner = last_step(ranker)
        if hasattr(learner, "eval_measure") and takes_dataset(learner):
            learner.set_params(eval_measure=str(self.protocol.select))
        with interruptible():
            return fit(ranker, data, watched)

    def refit(self, number: int, ranker: Any) -> Any:
        """Retrain the chosen setting on the training and validation parts, for the best number of rounds."""
        setting = self.done[number].setting | settled(ranker)
        return self.fitted(setting, concat([self.fold.train, self.fold.valid]), watch=False)

    def shortened(self, setting: dict[str, Any], share: float) -> dict[str, Any]:
        """The setting with a share of the effort, if a parameter controls the effort."""
        if share == 1.0 or self.effort is None:
            return setting
        return setting | {self.effort: max(1, round(share * full_effort(build(self.ranker, setting), self.effort)))}

    def data(self, share: float) -> RankingDataset:
        """The training part, or a share of its queries if no parameter controls the effort."""
        train = self.fold.train
        if share == 1.0 or self.effort is not None:
            return train
        order = np.random.default_rng(self.protocol.random_state).permutation(train.n_queries)
        return train.select(np.sort(order[: max(1, round(share * train.n_queries))]))


@contextlib.contextmanager
def _collected(messages: list[str]) -> Iterator[None]:
    """Collect our warnings instead of giving each of them once per trial; others are passed on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlackettWarning)
        try:
            yield
        finally:
            messages += [str(each.message) for each in caught if issubclass(each.category, PlackettWarning)]
    for each in caught:
        if not issubclass(each.category, PlackettWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C end the block: a ranker would keep its partial result, which would pass for a finished training."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "training was interrupted", PlackettWarning)
        try:
            yield
        except PlackettWarning as warning:
            if "training was interrupted" in str(warning):
                raise KeyboardInterrupt from None
            raise


def watches(ranker: Any) -> bool:
    """Whether ``fit`` uses a validation part: ours always do, others only with early stopping."""
    if takes_dataset(ranker) or of_own_steps(ranker):
        return True
    known = ranker.get_params(deep=False) if hasattr(ranker, "get_params") else {}
    return known.get("early_stopping_rounds") is not None and "eval_set" in fit_parameters(ranker)


def _line(error: BaseException) -> str:
    """An error as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
