"""The trials: candidates trained split by split, and their scores of the held-out documents."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import clone
from plackett._kernels.cores import n_threads
from plackett.data.dataset import RankingDataset
from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.folder import Outcome, TrialFolder
from plackett.experiments.auto.splits import Splits
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.rankers.blend import spread_within_lists
from plackett.solvers.monitor import Monitor

#: Clocks for the budget: elapsed time or processor time.
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}

#: What a candidate that cannot learn from the data may raise.
FAILURES = ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError

#: Number of documents up to which several candidates are trained in parallel.
SMALL = 200_000


class OutOfTimeError(Exception):
    """Raised inside a training that runs out of time."""


class CandidateTrials:
    """Trains candidates on splits, keeps the outcomes and measures how good they are."""

    def __init__(
        self,
        splits: Splits,
        measure: Measure,
        *,
        n_rows: int,
        random_state: int | None,
        n_jobs: int | None,
        clock: str,
        folder: TrialFolder | None,
    ) -> None:
        self.splits = splits
        self.measure = measure
        self.n_rows = n_rows
        self.random_state, self.n_jobs = random_state, n_jobs
        self.clock = CLOCKS[clock]
        self.folder = folder
        self.candidates: list[Candidate] = []
        self.outcomes: dict[tuple[int, int], Outcome] = {}
        self.errors: dict[int, Exception] = {}
        self._known: dict[tuple[int, int], list[float]] = {}
        #: When every training except the first must end.
        self.deadline = np.inf
        #: Seconds before the deadline that are needed for something else.
        self.reserve = 0.0
        self._measured = [0.0, 0]
        self.stopped = False
        self.edges = np.cumsum([0, *(splits.test(i).n_rows for i in range(len(splits)))])
        self.queries = np.cumsum([0, *(part.size for part in splits.held_out)])

    # ------------------------------------------------------------------------------------------------------- running

    def add(self, candidate: Candidate) -> int:
        """Add a candidate and return its number."""
        self.candidates.append(candidate)
        return len(self.candidates) - 1

    def replace(self, number: int, candidate: Candidate) -> None:
        """Replace a candidate by another one, and drop its outcomes."""
        self.candidates[number] = candidate
        for split in range(len(self.splits)):
            self.outcomes.pop((number, split), None)
            self._known.pop((number, split + 1), None)

    def keep_splits(self, n: int) -> None:
        """Compare on the first splits only, at least two of them if there are."""
        self.splits = self.splits.first(max(min(n, len(self.splits)), min(2, len(self.splits))))

    def run_all(
        self, wanted: Iterable[tuple[int, int]], out_of_time: Callable[[], bool], notify: Callable[[], None]
    ) -> None:
        """Train candidates on splits, several at a time if the data is small; none starts after the time is up.

        On small data, two trainings with one thread each are faster than one training with two threads.
        """
        todo = [pair for pair in wanted if pair not in self.outcomes and pair[0] not in self.errors]
        threads = 1 if self.splits.data.n_rows > SMALL else min(n_threads(self.n_jobs), len(todo))

        def job(pair: tuple[int, int]) -> None:
            if self.outcomes and out_of_time():
                raise OutOfTimeError
            self.run(*pair, n_jobs=self.n_jobs if threads <= 1 else 1)

        with quietly():
            if threads <= 1:
                for pair in todo:
                    job(pair)
                    notify()
                return
            with ThreadPoolExecutor(threads, thread_name_prefix="plackett-trial") as pool:
                under_way = [pool.submit(job, pair) for pair in todo]
                try:
                    for future in under_way:
                        future.result()
                        notify()
                except BaseException:
                    self.stopped = True  # running ones end with their next round
                    for future in under_way:
                        future.cancel()
                    raise

    def run(self, number: int, split: int, n_jobs: int | None = 1) -> None:
        """Train a candidate on a split, unless this was done before; failures are recorded."""
        if (number, split) in self.outcomes or number in self.errors:
            return
        candidate = self.candidates[number]
        key = "" if self.folder is None else self.folder.key(self.ranker(number), candidate.stages, split)
        outcome = None if self.folder is None else self.folder.read(key)
        if outcome is None:
            try:
                outcome = self._outcome(number, split, n_jobs)
            except FAILURES as error:
                self.errors[number] = error
                return
            if self.folder is not None:
                self.folder.write(key, outcome)
        self.outcomes[number, split] = outcome

    def ranker(self, number: int) -> Ranker:
        """The candidate's ranker, to be trained."""
        ranker = clone(self.candidates[number].ranker)
        return ranker.set_params(random_state=self.random_state, n_jobs=self.n_jobs, verbose=False)

    def _outcome(self, number: int, split: int, n_jobs: int | None) -> Outcome:
        ranker = self.ranker(number).set_params(n_jobs=n_jobs)
        train, test = self.splits.train(split), self.splits.test(split)
        start = self.clock()
        for part in (train, test):
            ranker.check_trainable(part, "X")
        fit(ranker, train, self._hurry)
        trained = self.clock()
        scores = _staged(ranker, test, self.candidates[number].stages)
        scored = self.clock()
        if not np.isfinite(scores).all():
            raise DataError("the scores of held-out documents are not finite")
        spreads = np.array([spread_within_lists(row, test) for row in scores])
        per_document = (scored - trained) / max(test.n_rows, 1)
        return Outcome(scores / spreads[:, None], spreads, trained - start, per_document)

    def _hurry(self, monitor: Monitor) -> bool:
        if self.stopped or (self.outcomes and self.clock() > self.deadline - self.reserve):
            raise OutOfTimeError
        return False

    def settle(self, *, interrupted: bool) -> None:
        """Reduce the splits to those that some candidate has finished; raise if there are none."""
        most = max((self.done(i) for i in range(len(self.candidates)) if i not in self.errors), default=0)
        if most == 0:
            if interrupted:
                raise KeyboardInterrupt
            raise next(iter(self.errors.values()))
        if most < len(self.splits):
            self.splits = self.splits.first(most)

    # ------------------------------------------------------------------------------------------------------ outcomes

    def done(self, number: int) -> int:
        """How many of the first splits a candidate has finished."""
        return next((i for i in range(len(self.splits)) if (number, i) not in self.outcomes), len(self.splits))

    def complete(self) -> list[int]:
        """Candidates that have finished all splits."""
        return [i for i in range(len(self.candidates)) if i not in self.errors and self.done(i) == len(self.splits)]

    def scores(self, number: int, stage: int, n_splits: int | None = None) -> np.ndarray:
        """Scores of the documents held out in the first splits."""
        n = len(self.splits) if n_splits is None else n_splits
        return np.concatenate([self.outcomes[number, i].scores[stage] for i in range(n)])

    def values(self, scores: np.ndarray) -> np.ndarray:
        """The measure for each held-out query of the first splits, so that larger is better."""
        n_queries = int(np.searchsorted(self.splits.judged.offsets, scores.size))
        judged = self.splits.judged
        part = judged if n_queries == judged.n_queries else judged.select(np.arange(n_queries))
        start = self.clock()
        values = per_query(self.measure, part, scores, self.n_jobs)
        self._measured[0] += self.clock() - start
        self._measured[1] += scores.size
        return values

    @property
    def measure_seconds(self) -> float:
        """Estimated time to measure the scores of all held-out documents once."""
        seconds, rows = self._measured
        return seconds / max(rows, 1) * float(self.edges[len(self.splits)])

    def worth(self, number: int, n_splits: int | None = None) -> float:
        """Mean of the measure over the queries of the first splits, at the best stage; larger is better."""
        return max(self._means(number, n_splits))

    def best_stage(self, number: int, n_splits: int | None = None) -> int:
        """The stage that is best on the first splits, the first one if tied."""
        return int(np.argmax(self._means(number, n_splits)))

    def _means(self, number: int, n_splits: int | None) -> list[float]:
        """The mean at each stage; kept, since the search asks for it after every training."""
        n = len(self.splits) if n_splits is None else n_splits
        if (number, n) not in self._known:
            stages = range(len(self.candidates[number].stages))
            self._known[number, n] = [mean(self.measure, self.values(self.scores(number, i, n))) for i in stages]
        return self._known[number, n]

    def document_seconds(self, number: int) -> float:
        """Time to score a document, as the median over the splits."""
        return float(np.median([self.outcomes[number, i].document_seconds for i in range(self.done(number))]))

    def refit_seconds(self, number: int) -> float:
        """Estimated time of training on all data, from the splits."""
        done = [(self.outcomes[number, i], i) for i in range(self.done(number))]
        return float(np.mean([o.train_seconds * self.n_rows / max(self._train_rows(i), 1) for o, i in done]))

    def _train_rows(self, split: int) -> int:
        held_out = int(self.edges[split + 1] - self.edges[split])
        return self.splits.data.n_rows - (0 if self.splits.valid is not None else held_out)


def per_query(measure: Measure, data: RankingDataset, scores: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
    """The measure for each query, negated where smaller is better."""
    return np.asarray(measure.worth(measure.per_query(Scored(data, scores, n_jobs=n_jobs))))


def mean(measure: Measure, values: np.ndarray) -> float:
    """Mean over queries of the values of `per_query`; −∞ if no query has a value."""
    value = float(measure.worth(measure.mean(measure.worth(values))))
    return -np.inf if np.isnan(value) else value


def fit(ranker: Ranker, data: RankingDataset, after: Callable[[Monitor], bool] | None = None) -> None:
    """Train on prepared data; Ctrl-C is passed on to the caller."""
    if ranker.fit_prepared(data, None, after).interrupted:
        raise KeyboardInterrupt


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress warnings of candidates: it does not matter if one learned nothing as long as others did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlackettWarning)
        yield


def _staged(ranker: Ranker, data: RankingDataset, stages: tuple[int | None, ...]) -> np.ndarray:
    """Scores after each stage, one row per stage."""
    if stages == (None,):
        return ranker.score_rows(data)[None, :]
    scorer, rows, before = ranker.scorer_, [], 0
    total: Any = 0.0
    for stage in stages:
        assert stage is not None
        # the outputs of the first rounds and the next ones add up; only their sum is finished
        total = total + _rounds(scorer.booster, before, stage, data.X)
        rows.append(scorer.finish(total))
        before = stage
    return np.array(rows)


def _rounds(booster: Any, first: int, last: int, X: Any) -> np.ndarray:
    """Outputs of the trees of some rounds."""
    if X.shape[0] == 0 or first >= booster.current_iteration():
        outputs = booster.num_model_per_iteration()
        return np.zeros(X.shape[0] if outputs == 1 else (X.shape[0], outputs))
    return booster.predict(  # type: ignore[no-any-return]
        X, raw_score=True, start_iteration=first, num_iteration=last - first, num_threads=1
    )
