"""Scores of nested stages, each of which reranks what the previous one put at the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.scorers.base import Scorer, Size, check_size
from plackett.scorers.fields import array, several

__all__ = ["NestedScorer"]


@dataclass(frozen=True)
class NestedScorer(Scorer):
    """Scorers of the stages, and how many documents of a list each of them orders."""

    kind: ClassVar[str] = "nested"
    stages: tuple[Scorer, ...] = several()
    keep: np.ndarray = array("stages", np.int64, positive=True)

    @property
    def size(self) -> Size | None:
        """What it takes and gives."""
        return self.stages[0].size

    def check(self) -> None:
        """All stages take the same features and give one score."""
        if len(self.stages) > 1:  # the ranker itself checks the outputs of a single one
            for stage in self.stages:
                check_size(stage, "first stage", None if self.size is None else self.size.n_features)

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on its list: with more than one stage it does."""
        return len(self.stages) > 1 or any(stage.list_aware for stage in self.stages)

    def then(self, stage: Scorer, n: int) -> NestedScorer:
        """With one more stage, for the n best documents of each list."""
        return NestedScorer((*self.stages, stage), np.append(self.keep, n))

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Scores in the order of the last stage; below them, the documents it left out in the order of the stage
        before, and so on.
        """
        return self._run(X, offsets, n_jobs)[0]

    def top(self, data: RankingDataset | None, n: int) -> np.ndarray:
        """The rows that a further stage would order: the n best of each list among those that reached this stage."""
        if data is None or not self.stages:
            return np.arange(0 if data is None else data.n_rows)
        scores, rows = self._run(data.X, data.offsets, None)
        return best_rows(scores, rows, data.offsets, n)

    def _run(self, X: Any, offsets: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and the rows that reached the last stage."""
        rows = np.arange(offsets[-1])
        scores = self.stages[0].predict(X, offsets, n_jobs)
        for stage, n in zip(self.stages[1:], self.keep[1:], strict=True):
            rows = best_rows(scores, rows, offsets, int(n))
            scores = lift(scores, rows, stage.predict(X[rows], list_offsets(rows, offsets), n_jobs), offsets)
        return scores, rows


def list_offsets(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Where the lists begin in an ascending selection of rows."""
    return np.searchsorted(rows, offsets)


def best_rows(scores: np.ndarray, rows: np.ndarray, offsets: np.ndarray, n: int, slack: float = 0.0) -> np.ndarray:
    """The rows, of those given, whose score is among the n best of their list, or at most ``slack`` below the n-th.

    Rows tied with the last are included.
    """
    starts = list_offsets(rows, offsets)
    list_scores = np.ascontiguousarray(scores[rows], np.float64)
    kept = np.empty(list_scores.size, np.bool_)
    longest = int(np.diff(starts).max(initial=0))
    if longest:
        _keep_best(list_scores, starts, min(int(n), longest), float(slack), kept)
    return rows[kept]


def lift(scores: np.ndarray, rows: np.ndarray, new: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """New scores for some rows, moved above the other rows of their list, if there are any."""
    lifted = np.array(scores, np.float64)
    if rows.size:
        _lift(lifted, rows, np.ascontiguousarray(new, np.float64), list_offsets(rows, offsets), offsets)
    return lifted


@kernel
def _keep_best(scores, starts, n, slack, kept):
    heap = np.empty(n)  # the best so far, the least of them first
    for q in range(starts.size - 1):
        a, b = starts[q], starts[q + 1]
        size = 0
        for i in range(a, b):
            value = scores[i]
            if size < n:
                child = size
                size += 1
                while child > 0 and heap[(child - 1) // 2] > value:
                    heap[child] = heap[(child - 1) // 2]
                    child = (child - 1) // 2
                heap[child] = value
            elif value > heap[0]:
                parent = 0
                child = 1
                while child < n:
                    if child + 1 < n and heap[child + 1] < heap[child]:
                        child += 1
                    if heap[child] >= value:
                        break
                    heap[parent] = heap[child]
                    parent = child
                    child = 2 * parent + 1
                heap[parent] = value
        last = heap[0] - slack
        for i in range(a, b):
            kept[i] = scores[i] >= last


@kernel
def _lift(lifted, rows, new, starts, offsets):
    for q in range(starts.size - 1):
        p, end = starts[q], starts[q + 1]
        roof, floor = -np.inf, np.inf
        for i in range(offsets[q], offsets[q + 1]):
            if p < end and rows[p] == i:
                floor = min(floor, new[p])
                p += 1
            else:
                roof = max(roof, lifted[i])
        shift = roof + 1.0 - floor if np.isfinite(roof) and np.isfinite(floor) else 0.0
        for p in range(starts[q], end):
            lifted[rows[p]] = new[p] + shift
