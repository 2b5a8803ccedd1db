"""Watching training: validation measure, early stopping, progress, interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.blocks import measured
from plackett.scorers.base import Scorer

if TYPE_CHECKING:
    from plackett.losses.base import Loss


@dataclass
class Monitor:
    """Watches training: validation measure, early stopping, progress, interruption.

    A ranker trains inside the block `training` and passes the scorer of each round to `keep` until told to stop; then
    `best` is the scorer of the best round. If a round has no scorer yet, `judge` says whether to keep it, and `update`
    takes the scores of the validation data (one per document, so after `Loss.ranking_scores`). Without validation data,
    every round counts as better than the one before. Ctrl-C ends the block, and the model keeps the best round so far.
    If training continues from a model, call `consider` first: if no round improves on that model, `best_round` stays −1
    and `kept` is 0, which means to keep it.

    Parameters
    ----------
    valid
        Validation data, or None.
    measure
        Measure to monitor on it.
    patience
        Stop after this many rounds without a better value; None never stops early.
    verbose
        Show progress.
    n_jobs
        Threads for the measure.
    after_round
        Called with the monitor after each round; returning True stops training.
    final
        Applied to the scores of the validation data before they are measured, for a ranker that wraps another one and
        transforms its scores.
    """

    valid: RankingDataset | None = None
    measure: Measure | None = None
    patience: int | None = None
    verbose: bool = False
    n_jobs: int | None = None
    after_round: Callable[[Monitor], bool] | None = None
    final: Callable[[np.ndarray], np.ndarray] | None = None
    history: list[float] = field(default_factory=list)
    best_round: int = -1
    best_value: float = float("nan")
    #: Whether any further round is better than the best one so far.
    provisional: bool = False
    interrupted: bool = False
    n_rounds: int = 0
    #: Whether `after_round` ended the training.
    called_off: bool = False
    most_rounds: int = 1
    considered: bool = False
    best: Any = None

    def __post_init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None

    @contextmanager
    def training(self, rounds: int, what: str) -> Iterator[None]:
        """Show progress inside the block, and end the block quietly on Ctrl-C once a round is finished.

        Before that there is nothing to keep, and the interrupt is passed on to the caller.
        """
        self.start(rounds, what)
        try:
            yield
        except KeyboardInterrupt:
            if self.n_rounds == 0:
                raise
            self.interrupted = True
        finally:
            self.stop()

    def start(self, rounds: int, what: str) -> None:
        """Set the maximum number of rounds."""
        self.most_rounds = rounds
        if self.verbose:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            # on stderr, to keep the program's own output clean
            self._progress = Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True))
            self._task = self._progress.add_task(what, total=rounds, note="")
            self._progress.start()

    def stop(self) -> None:
        """End the progress display."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def consider(self, start: Scorer | None, loss: Loss) -> None:
        """Record the value on the validation data of the model that training continues from."""
        if start is not None and self.valid is not None:
            scores = start.predict(self.valid.X, self.valid.offsets, self.n_jobs)
            self.best_value = self._value(loss.ranking_scores(scores))
            self.considered = not np.isnan(self.best_value)

    @property
    def kept(self) -> int | None:
        """Number of rounds to keep; None keeps all."""
        return self.best_round + 1 if self.best_round >= 0 or self.considered else None

    @property
    def out_of_patience(self) -> bool:
        """Whether too many rounds have passed without a better value."""
        return self.patience is not None and len(self.history) - 1 - self.best_round >= self.patience

    def keep(self, scorer: Scorer) -> bool:
        """Record the scorer of a finished round, as `best` if it is; True means that training should stop."""
        better, stop = self.judge(lambda valid: scorer.score_rows(valid, self.n_jobs), by_parts=True)
        if better:
            self.best = scorer
        return stop

    def judge(
        self, scores: Callable[[RankingDataset], np.ndarray], *, may_keep: bool = True, by_parts: bool = False
    ) -> tuple[bool, bool]:
        """Record a finished round by its validation scores; returns whether to keep it and whether to stop.

        Without ``may_keep`` it cannot be the best round, unless there is no other. With ``by_parts`` the function also
        scores the documents of a part of the validation data.
        """
        before = self.best_round
        stop = self.update(None if self.valid is None else scores if by_parts else scores(self.valid))
        self.provisional = not may_keep and self.best_round == len(self.history) - 1
        return self.valid is None or self.best_round != before, stop

    def _value(self, scores: Any) -> float:
        if self.valid is None or self.measure is None:
            return float("nan")
        if self.final is not None:
            scores = self.final(scores(self.valid) if callable(scores) else scores)
        return self.measure.mean(measured([self.measure], self.valid, scores, n_jobs=self.n_jobs)[0])

    def update(self, scores: Any = None) -> bool:
        """Record a finished round; True means that training should stop."""
        note = ""
        if scores is not None and self.valid is not None and self.measure is not None:
            value = self._value(scores)
            self.history.append(value)
            # the best value may be NaN if no query has a value: anything is better
            if (
                self.provisional
                or np.isnan(self.best_value)
                or self.measure.worth(value) > self.measure.worth(self.best_value)
            ):
                self.best_round, self.best_value = len(self.history) - 1, value
            note = f"{self.measure} {value:.4f} (best {self.best_value:.4f})"
        self.n_rounds += 1
        if self._progress is not None:
            self._progress.update(self._task, advance=1, note=note)
        if self.after_round is not None and self.after_round(self):
            self.called_off = True
            return True
        return self.out_of_patience


class SilentMonitor(Monitor):
    """No validation data and no display; Ctrl-C is passed on to the caller, as there is nothing to keep yet."""

    def update(self, scores: Any = None) -> bool:
        """Never stop training."""
        return False
