"""Shared base of the threshold losses: grades as intervals of the score, separated by thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from plackett._base.arguments import choice
from plackett._base.cached import cached_property
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import is_large, query_blocks, row_array
from plackett.data.weights import given_or_ones
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise.penalties import PENALTIES

_MOST_GRADES = 256


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdLoss(Loss):
    r"""A loss of the form :math:`\sum_j w_j \sum_k \varphi(\pm(s_j - b_k))` over thresholds :math:`b_k` between grades.

    Parameters
    ----------
    penalty
        φ: ``"logistic"``, ``"hinge"``, ``"squared_hinge"``, ``"exponential"`` (clipped at e^300), ``"square"``,
        (1 − z)², or ``"perceptron"``, max(0, −z).
    cuts
        Where the labels are cut into grades: a label above a cut should have a score above its threshold. None cuts
        half-way between the labels that occur.
    thresholds
        The thresholds of the scores: None uses the cuts themselves, so that scores are on the scale of the labels;
        ``"learned"`` uses, at every evaluation, the ones that minimise the loss on all of the data. The loss of the
        best thresholds is convex in the scores like the loss itself, and has the same gradient, so models need not know
        about them; `best_thresholds` returns them.
    """

    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False

    penalty: str = "logistic"
    cuts: tuple[float, ...] | None = None
    thresholds: Any = None

    #: Whether every threshold counts for a document, or only the two at the ends of its grade.
    all_thresholds: ClassVar[bool]

    def __post_init__(self) -> None:
        choice(f"{self.name}: penalty", self.penalty, PENALTIES, error=LossError)
        for field in ("cuts", "thresholds"):
            given = getattr(self, field)
            if given is not None and not isinstance(given, str):
                object.__setattr__(self, field, tuple(float(value) for value in given))
        if self.cuts is not None and list(self.cuts) != sorted(set(self.cuts)):
            raise LossError(f"{self.name}: cuts={self.cuts}; give them from small to large, each once")
        if isinstance(self.thresholds, str) and self.thresholds != "learned":
            raise LossError(f"{self.name}: thresholds={self.thresholds!r}; give numbers, 'learned' or None")

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the gradient is continuous, as the penalty has it."""
        return PENALTIES[self.penalty].smooth

    @property
    def separable(self) -> bool:  # type: ignore[override]
        """Whether each query's loss depends on its own scores alone; not with learned thresholds."""
        return self.thresholds != "learned"

    @property
    def curvature(self) -> str:  # type: ignore[override]
        """Exact, except for a hinge, and for learned thresholds, whose movement it ignores."""
        return "exact" if PENALTIES[self.penalty].exact and self.thresholds != "learned" else "surrogate"

    def settle(self, data: RankingDataset) -> Self:
        """The loss with the cuts that all of the data have."""
        return self.replace(cuts=tuple(self.bind(data).cuts.tolist()))

    def best_thresholds(self, scores: Any, data: RankingDataset) -> np.ndarray:
        """The thresholds that minimise the loss for given scores; NaN if all documents are on one side."""
        bound = self.bind(data)
        return bound.best_thresholds(bound.check(scores))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> _Bound:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    """The loss on one dataset. Whatever there is for each document is on the disk if the features are."""

    def __init__(self, loss: ThresholdLoss, data: RankingDataset, n_jobs: int | None) -> None:
        self.data, self.n_jobs, self.n_outputs = data, n_jobs, 1
        self.query_weight = given_or_ones(data.query_weight, data.n_queries)
        self.loss = loss
        self.phi = PENALTIES[loss.penalty].at
        self.cuts = _cuts(loss, data)
        self.weight, self.grade = self._per_document(), self._per_document(np.int64)
        self.blocks = []
        for rows, part in _parts(data):
            self.blocks.append(rows)
            self.weight[rows] = part.row_weight * (part.labels >= 0)
            self.grade[rows] = np.searchsorted(self.cuts, part.labels)
        given = loss.thresholds
        if given is not None and given != "learned" and len(given) != self.cuts.size:
            raise LossError(f"{loss.name} has {len(given)} thresholds for {self.cuts.size} cuts of the labels")
        self.fixed = self.cuts if given is None else given

    def _per_document(self, dtype: Any = np.float64) -> np.ndarray:
        return row_array(self.data.X, (self.data.n_rows,), dtype)

    @cached_property
    def _buffers(self) -> _Buffers:
        return _Buffers(*(self._per_document() for _ in range(5)))

    @cached_property
    def _kept(self) -> list[np.ndarray]:
        return [self._per_document() for _ in range(3)]

    def best_thresholds(self, scores: np.ndarray) -> np.ndarray:
        return np.array([self._best(scores, k, self._buffers) for k in range(self.cuts.size)])

    def _terms(self, k: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For one threshold, in blocks: the rows that count, on which side of it they belong, and their weights."""
        for block in self.blocks:
            weight, grade = self.weight[block], self.grade[block]
            near = weight > 0
            if not self.loss.all_thresholds:
                near = near & ((grade == k) | (grade == k + 1))
            rows = np.flatnonzero(near)
            yield rows + block.start, np.where(grade[rows] > k, 1.0, -1.0), weight[rows]

    def _best(self, all_scores: np.ndarray, k: int, buffers: _Buffers) -> float:
        """The least point of a convex function of one threshold: Newton's steps inside a shrinking bracket."""
        n = 0
        for rows, side, weight in self._terms(k):
            new = slice(n, n + rows.size)
            buffers.scores[new], buffers.side[new], buffers.weight[new] = all_scores[rows], side, weight
            n = new.stop
        scores, side, weight, rises, bends = (part[:n] for part in buffers)
        if not (side.max(initial=-1.0) > 0 and side.min(initial=1.0) < 0):
            return np.nan
        low, high = scores.min() - 40.0, scores.max() + 40.0
        b, total = 0.5 * (scores.min() + scores.max()), weight.sum()
        longest = max(block.stop - block.start for block in self.blocks)
        for _ in range(200):
            for start in range(0, n, longest):
                part = slice(start, start + longest)
                _, slope, bend = self.phi(side[part] * (scores[part] - b))
                rises[part], bends[part] = weight[part] * side[part] * slope, weight[part] * bend
            rise = -rises.sum()
            if abs(rise) <= 1e-12 * total or high - low <= 1e-14 * max(1.0, abs(b)):
                break
            if rise > 0.0:
                high = b
            else:
                low = b
            curvature = bends.sum()
            proposed = b - rise / curvature if curvature > 0.0 else low
            b = proposed if low < proposed < high else 0.5 * (low + high)
        return float(b)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        thresholds = self.best_thresholds(scores) if self.loss.thresholds == "learned" else self.fixed
        if is_large(self.data.X):  # files are used again: to make and to remove them takes a while
            terms, gradient, curvature = self._kept
            for values in self._kept:
                values[...] = 0.0
        else:
            terms, gradient, curvature = (self._per_document() for _ in range(3))
        for k, b in enumerate(thresholds):
            if np.isnan(b):
                continue
            for rows, side, weight in self._terms(k):
                cost, slope, bend = self.phi(side * (scores[rows] - b))
                terms[rows] += weight * cost
                gradient[rows] += weight * side * slope
                curvature[rows] += weight * bend
        losses = np.zeros(self.data.n_queries)
        if value:
            for block, (lo, hi) in zip(self.blocks, query_blocks(self.data.offsets), strict=True):
                query = np.repeat(np.arange(hi - lo), self.data.group[lo:hi])
                losses[lo:hi] = np.bincount(query, terms[block], hi - lo)
        return losses, gradient, curvature


class _Buffers(NamedTuple):
    """Numbers of the documents that count at a threshold."""

    scores: np.ndarray
    side: np.ndarray
    weight: np.ndarray
    rises: np.ndarray
    bends: np.ndarray


def _parts(data: RankingDataset) -> Iterator[tuple[slice, RankingDataset]]:
    """Blocks of queries: their rows, and their data."""
    for lo, hi in query_blocks(data.offsets):
        yield slice(int(data.offsets[lo]), int(data.offsets[hi])), data.select(np.arange(lo, hi))


def _cuts(loss: ThresholdLoss, data: RankingDataset) -> np.ndarray:
    if loss.cuts is not None:
        return np.array(loss.cuts)
    labels = [part.labels for _, part in _parts(data)]
    grades = np.unique(np.concatenate([np.unique(part[part >= 0]) for part in labels])) if labels else np.empty(0)
    if grades.size > _MOST_GRADES:
        raise LossError(f"{loss.name}: there are {grades.size} different labels; give cuts=… to make fewer grades")
    return 0.5 * (grades[1:] + grades[:-1])
