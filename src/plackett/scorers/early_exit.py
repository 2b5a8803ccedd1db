"""Scores of a tree ensemble that drops most documents of a list after its first trees."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import array, inner
from plackett.scorers.nested import best_rows, lift
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.scorer import TreeScorer

__all__ = ["EarlyExitScorer"]

#: Exits of ``predict(exit=…)`` whose kernels are kept.
_KEPT = 8


def _trees_only(kind: str) -> type[TreeScorer]:
    if kind != TreeScorer.kind:
        raise DataError(f"an early exit of {kind!r:.50}; expected trees")
    return TreeScorer


@dataclass(frozen=True)
class EarlyExitScorer(Scorer):
    """An ensemble with exits: after some trees, documents far from the top of their list leave.

    At exit e, a document goes on if its sum so far is at least the ``keep[e]``-th best of its list minus ``slack[e]``,
    and at least ``floor[e]``. Documents that leave at a later exit rank above those that leave earlier, in the order of
    their sums. A list whose first ``keep[e]`` documents are each at least ``settled[e]`` above the next one is settled:
    none of its documents goes on.

    Parameters
    ----------
    trees
        The ensemble, with one output.
    after
        Number of trees before each exit, ascending.
    keep, slack, floor
        The rule of each exit for documents.
    settled
        The rule of each exit for lists. With None, or infinity for an exit, every list goes on.
    """

    kind: ClassVar[str] = "early_exit"
    list_aware: ClassVar[bool] = True
    trees: TreeScorer = inner(_trees_only)
    after: np.ndarray = array("exits", np.int64, positive=True)
    keep: np.ndarray = array("exits", np.int64, positive=True)
    slack: np.ndarray = array("exits", finite=False, least=0)
    floor: np.ndarray = array("exits", finite=False, least=-np.inf)
    settled: np.ndarray | None = array("exits", finite=False, least=0, optional=True)
    has_exit: ClassVar[bool] = True  # type: ignore[assignment]
    not_exportable: ClassVar[str] = (  # type: ignore[assignment]
        "has an early exit, which engines do not have; export the ranker it was made from"
    )

    @cached_property
    def segments(self) -> list[TreeScorer]:
        """The trees up to the first exit, between exits, and after the last one."""
        arrays = self.trees.trees
        ends = [0, *self.after.tolist(), arrays.n_trees]
        return [TreeScorer.of(arrays.part(a, b)) for a, b in itertools.pairwise(ends)]

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return self.trees.size

    @property
    def tree_arrays(self) -> TreeArrays:
        """The trees, those after the exit too."""
        return self.trees.trees

    @property
    def booster(self) -> Any:  # type: ignore[override]
        """The trees as a `lightgbm.Booster`."""
        return self.trees.booster

    def without_exit(self) -> TreeScorer:
        """All trees for every document."""
        return self.trees

    def used_features(self, n_features: int) -> np.ndarray:
        """The features of splits."""
        return self.trees.used_features(n_features)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; sums of those that passed all trees differ from the ensemble's by a constant per list."""
        scores, stages = self._run(X, offsets, n_jobs)
        for rows in stages:
            scores = lift(scores, rows, scores[rows], offsets)
        return scores

    def work(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Number of trees that each row passes."""
        _, stages = self._run(X, offsets, n_jobs)
        passed = np.full(X.shape[0], self.segments[0].trees.n_trees)
        for rows, segment in zip(stages, self.segments[1:], strict=True):
            passed[rows] += segment.trees.n_trees
        return passed

    def _run(self, X: Any, offsets: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, list[np.ndarray]]:
        """Sum over the trees that each row passed, and the rows that went on at each exit."""
        first, *others = self.segments
        sums = first.predict(X, offsets, n_jobs)
        rows, stages = np.arange(sums.size), []
        settled = np.full(self.keep.size, np.inf) if self.settled is None else self.settled
        rules = zip(self.keep.tolist(), self.slack.tolist(), self.floor.tolist(), settled.tolist(), strict=True)
        for segment, (keep, slack, floor, apart) in zip(others, rules, strict=True):
            if apart < np.inf:
                rows = unsettled_rows(sums, rows, offsets, keep, apart)
            rows = best_rows(sums, rows, offsets, keep, slack)
            if floor > -np.inf:
                rows = rows[sums[rows] >= floor]
            stages.append(rows)
            if rows.size:
                sums[rows] = segment.kernels.predict(X[rows], n_jobs, start=sums[rows])
        return sums, stages

    def check(self) -> None:
        """The exits come one after the other, before the last tree of an ensemble of one output."""
        total = self.trees.trees.n_trees
        ends = np.array([0, *self.after, total])
        possible = self.trees.trees.n_outputs == 1 and (ends[1:] > ends[:-1]).all()
        self.check_that(bool(possible), f"exits after {self.after.tolist()} of {total} trees")


def unsettled_rows(scores: np.ndarray, rows: np.ndarray, offsets: np.ndarray, n: int, apart: float) -> np.ndarray:
    """The rows, of those given, in lists where one of the n best is less than ``apart`` above the next one."""
    query = np.searchsorted(offsets, rows, side="right") - 1
    order = np.lexsort((-scores[rows], query))
    ranked, lists = scores[rows[order]], query[order]
    position = np.arange(order.size) - np.searchsorted(lists, lists)
    close = (lists[1:] == lists[:-1]) & (position[:-1] < n) & ~(ranked[:-1] - ranked[1:] >= apart)
    goes_on = np.zeros(offsets.size - 1, bool)
    goes_on[lists[:-1][close]] = True
    return rows[goes_on[query]]


def leaf_spread(scorer: TreeScorer, after: int) -> float:
    """How much the trees after the first ones can move two documents against each other: the sum of their ranges.

    A document whose sum is further below the k-th best than this can no longer reach the best k.
    """
    trees = scorer.trees
    starts = trees.leaf_offsets[after:-1]
    if starts.size == 0:
        return 0.0
    high, low = (f.reduceat(trees.leaf_value, starts) for f in (np.maximum, np.minimum))
    largest = np.abs(trees.leaf_value).sum()
    return float((high - low).sum() + 1e-12 * largest)  # and what rounding may add


def trees_of(scorer: Scorer | None, algorithm: str) -> TreeScorer:
    """The trees of a scorer, without the exit that they may have."""
    scorer = None if scorer is None else scorer.without_exit()
    if not isinstance(scorer, TreeScorer) or scorer.linear_leaves or scorer.trees.n_outputs != 1:
        raise DataError(
            f"an early exit needs a fitted ranker with trees of constant leaves and one output, not this {algorithm}"
        )
    return scorer


def with_exit(scorer: Scorer, exit: Any, algorithm: str) -> EarlyExitScorer:
    """The scorer with an exit after s trees for all but the best k documents; recent ones are cached."""
    trees = trees_of(scorer, algorithm)
    total = trees.trees.n_trees
    whole = isinstance(exit, Sequence) and len(exit) == 2 and all(isinstance(n, (int, np.integer)) for n in exit)
    if not whole or not 1 <= exit[0] < total or exit[1] < 1:
        raise DataError(
            f"exit={exit!r}; give True, False, or two whole numbers: trees from 1 to {total - 1}, documents from 1"
        )
    known: dict[Any, EarlyExitScorer] = trees.__dict__.setdefault("exits", {})
    found = known.get(tuple(exit))
    if found is None:
        if len(known) >= _KEPT:
            known.clear()
        found = known[tuple(exit)] = exit_scorer(trees, int(exit[0]), int(exit[1]))
    return found


def exit_scorer(
    scorer: TreeScorer, trees: int, keep: int, slack: float = 0.0, settled: float = np.inf
) -> EarlyExitScorer:
    """The scorer with one exit: the first trees for all documents of a list, the others for the best of them."""
    lists = None if settled == np.inf else np.array([float(settled)])
    return EarlyExitScorer(
        scorer, np.array([trees]), np.array([keep]), np.array([float(slack)]), np.array([-np.inf]), lists
    )
