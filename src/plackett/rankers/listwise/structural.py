"""Shared base of the structural SVMs: the lists used, their risk, and training by cutting planes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.kernel import over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import is_large, query_blocks, row_array, take_rows
from plackett.data.moments import feature_scale
from plackett.data.parts import per_query, rows_where, values_at
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.cutting_plane import CuttingPlaneSolution, minimise
from plackett.solvers.monitor import Monitor
from plackett.solvers.proved_gap import Trained, check_settings, keep_best, relative_gap, warn_of_open_gap

#: For given scores, the most violated ranking of each list: its 1 − M, and how much more its feature map weights each
#: document than that of a perfect ranking does. 1 − M plus these factors times the scores is the loss.
Violations = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class TrainingLists:
    """The documents used for training, by list, and the share of each list in the risk."""

    X: Any
    labels: np.ndarray
    offsets: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, data: RankingDataset) -> TrainingLists:
        """The judged documents with non-zero weight; their mean weight is the weight of the list."""
        rows = rows_where(data, used)
        lengths = per_query(data, lambda part: np.bincount(part.query_of_row[used(part)], minlength=part.n_queries))
        share = per_query(data, _total_weight) / np.maximum(lengths, 1.0)
        if data.query_weight is not None:
            share *= data.query_weight
        share /= max(share.sum(), np.finfo(float).tiny)
        X = data.X if rows is None else take_rows(data.X, rows)
        offsets = np.concatenate(([0], np.cumsum(lengths.astype(np.int64))))
        return cls(X, values_at(data.labels, rows, data.X), offsets, share)

    def part(self, lo: int, hi: int) -> TrainingLists:
        """Some lists that follow each other."""
        rows = slice(self.offsets[lo], self.offsets[hi])
        return TrainingLists(self.X[rows], self.labels[rows], self.offsets[lo : hi + 1] - rows.start, self.share[lo:hi])

    @property
    def longest(self) -> int:
        """Length of the longest list."""
        return int(np.diff(self.offsets).max(initial=1))

    def run(self, kernel: Any, scores: np.ndarray, *known: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The most violated rankings, as a kernel finds them."""
        error, slope = np.zeros(self.share.size), np.zeros(self.labels.size)
        over_queries(kernel, self.offsets, scores, *known, error, slope, n_jobs=n_jobs, rows_per_thread=4000)
        return error, slope


def used(data: RankingDataset) -> np.ndarray:
    """Which documents are judged and have a weight."""
    judged = data.labels >= 0
    return judged if data.sample_weight is None else judged & (data.sample_weight > 0)


def _total_weight(data: RankingDataset) -> np.ndarray:
    rows = used(data)
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return np.bincount(data.query_of_row[rows], weight, data.n_queries)


class StructuralProblem:
    """The risk of weights for scaled features.

    Parameters
    ----------
    lists
        The documents.
    violations
        Makes the search for the most violated rankings of some lists. For documents on the disk, it is made anew for
        each block of lists.
    """

    def __init__(
        self, lists: TrainingLists, violations: Callable[[TrainingLists], Any], standardize: bool, n_jobs: int | None
    ) -> None:
        self.lists, self.n_jobs = lists, n_jobs
        self.violations = violations
        self.blocks = list(query_blocks(lists.offsets)) if is_large(lists.X) else [(0, lists.share.size)]
        self.made = violations(lists) if len(self.blocks) == 1 else None
        n = lists.labels.size
        self.score_buffer, self.slope, self.row_share = (row_array(lists.X, (n,)) for _ in range(3))
        for lo, hi in self.blocks:
            offsets = lists.offsets[lo : hi + 1]
            self.row_share[offsets[0] : offsets[-1]] = np.repeat(lists.share[lo:hi], np.diff(offsets))
        self.scale = feature_scale(lists.X, self.row_share, standardize)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Score of each document; overwritten by the next call."""
        return table_times(self.lists.X, (weights / self.scale)[:, None], self.n_jobs, self.score_buffer[:, None])[:, 0]

    def parts(self) -> Iterator[tuple[slice, slice, TrainingLists, Any]]:
        """Blocks of lists: their numbers, those of their rows, the lists and the search for violations."""
        for lo, hi in self.blocks:
            part = self.lists if self.made is not None else self.lists.part(lo, hi)
            search = self.violations(part) if self.made is None else self.made
            yield slice(lo, hi), slice(self.lists.offsets[lo], self.lists.offsets[hi]), part, search

    def risk(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean loss of the lists, and a subgradient."""
        scores, error = self.scores(weights), np.empty(self.lists.share.size)
        for own, rows, _, violations in self.parts():
            error[own], slope = violations(scores[rows])
            np.multiply(slope, self.row_share[rows], out=self.slope[rows])
        gradient = transposed_times(self.lists.X, self.slope[:, None], self.n_jobs)[:, 0] / self.scale
        return float((error * self.lists.share).sum() + (gradient * weights).sum()), gradient


@dataclass(kw_only=True, eq=False, repr=False)
class StructuralSVM(Ranker):
    """Base class of the structural SVMs; a subclass finds the most violated ranking of a list.

    Parameters
    ----------
    C
        Weight of the mean loss over lists, relative to half the squared norm of the weights.
    tol, max_iter
        Relative gap of the objective at which to stop, and maximum number of evaluations of the risk.
    standardize
        Divide each feature by its standard deviation while training, so that one C fits all. The resulting weights
        apply to the original features.

    Attributes
    ----------
    coef_
        Weight of each feature.
    objective_, gap_
        The objective at these weights, and an upper bound on its relative distance from the minimum. The bound is
        proved by the cutting planes; it is 1 if training was interrupted.
    n_iter_
        Number of evaluations of the risk.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None  # `max_iter` is an upper bound that training rarely reaches
    search_space: ClassVar[SearchSpace] = {"C": Real(0.01, 100.0, log=True)}

    C: float = 10.0
    tol: float = 1e-4
    max_iter: int = 1000
    standardize: bool = True

    def _check(self, lists: TrainingLists) -> None:
        """Reject settings that do not fit the labels."""

    def _violations(self, lists: TrainingLists) -> Any:
        """The search for the most violated rankings: `Violations`, or whatever `_solve` and `_risk` call."""
        raise NotImplementedError

    def _solve(self, problem: StructuralProblem, step: Callable[[np.ndarray], bool]) -> CuttingPlaneSolution:
        """Weights, objective, bound, gap and number of rounds."""
        return minimise(
            problem.risk,
            problem.scale.size,
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            monitor_step=step,
        )

    def _risk(self, problem: StructuralProblem, weights: np.ndarray) -> float:
        """Mean loss of the lists."""
        return problem.risk(weights)[0]

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Training stops after `max_iter` rounds at the latest."""
        return {"max_iter": rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        check_settings(self.C, self.tol, self.max_iter)
        lists = TrainingLists.of(data)
        self._check(lists)
        problem = StructuralProblem(lists, self._violations, self.standardize, self.n_jobs)
        name = type(self).__name__

        def scorer(weights: np.ndarray) -> LinearScorer:
            return LinearScorer((weights / problem.scale)[:, None], np.zeros(1))

        def valid_scores(valid: RankingDataset, weights: np.ndarray) -> np.ndarray:
            return scorer(weights).predict(valid.X, valid.offsets, self.n_jobs)

        kept = Trained(np.zeros(data.n_features))
        dual = 0.0  # no objective is below 0
        with monitor.training(self.max_iter, f"{name} · cutting planes"):
            solution = self._solve(problem, keep_best(kept, monitor, valid_scores, by_parts=True))
            kept.objective, dual = solution.primal, solution.dual
        if monitor.interrupted or not np.array_equal(kept.weights, solution.coef):
            kept.objective = 0.5 * float(kept.weights @ kept.weights) + self.C * self._risk(problem, kept.weights)
        if not (kept.stopped or monitor.interrupted):
            warn_of_open_gap(name, solution.gap, self.tol, kept.n_iter)
        self.scorer_ = scorer(kept.weights)
        self.objective_, self.gap_, self.n_iter_ = kept.objective, relative_gap(kept.objective, dual), kept.n_iter
