"""Shared base of the threshold losses: grades as intervals of the score, separated by thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
from plackett.losses.pointwise.penalties import PENALTIES

__all__ = ["ThresholdLoss"]

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

    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False

    penalty: str = "logistic"
    cuts: tuple[float, ...] | None = None
    thresholds: Any = None

    #: Whether every threshold counts for a document, or only the two at the ends of its grade.
    all_thresholds: ClassVar[bool]

    def __post_init__(self) -> None:
        if self.penalty not in PENALTIES:
            raise LossError(f"{self.name}: penalty={self.penalty!r}; the penalties are {', '.join(PENALTIES)}")
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
    def __init__(self, loss: ThresholdLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        self.phi = PENALTIES[loss.penalty].at
        self.weight = judged_weight(self)
        self.cuts = _cuts(loss, data.labels)
        self.grade = np.searchsorted(self.cuts, data.labels)
        given = loss.thresholds
        if given is not None and given != "learned" and len(given) != self.cuts.size:
            raise LossError(f"{loss.name} has {len(given)} thresholds for {self.cuts.size} cuts of the labels")
        self.fixed = self.cuts if given is None else given

    def best_thresholds(self, scores: np.ndarray) -> np.ndarray:
        return np.array([self._best(scores[rows], side, weight) for rows, side, weight in self._terms()])

    def _terms(self) -> Any:
        """For each threshold the rows that count, on which side of it they belong, and their weights."""
        for k in range(self.cuts.size):
            near = self.weight > 0
            if not self.loss.all_thresholds:
                near = near & ((self.grade == k) | (self.grade == k + 1))
            rows = np.flatnonzero(near)
            yield rows, np.where(self.grade[rows] > k, 1.0, -1.0), self.weight[rows]

    def _best(self, scores: np.ndarray, side: np.ndarray, weight: np.ndarray) -> float:
        """The least point of a convex function of one threshold: Newton's steps inside a shrinking bracket."""
        if not ((side > 0).any() and (side < 0).any()):
            return np.nan
        low, high = scores.min() - 40.0, scores.max() + 40.0
        b, total = 0.5 * (scores.min() + scores.max()), weight.sum()
        for _ in range(200):
            _, slope, bend = self.phi(side * (scores - b))
            rise = -(weight * side * slope).sum()
            if abs(rise) <= 1e-12 * total or high - low <= 1e-14 * max(1.0, abs(b)):
                break
            if rise > 0.0:
                high = b
            else:
                low = b
            curvature = (weight * bend).sum()
            proposed = b - rise / curvature if curvature > 0.0 else low
            b = proposed if low < proposed < high else 0.5 * (low + high)
        return float(b)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        thresholds = self.best_thresholds(scores) if self.loss.thresholds == "learned" else self.fixed
        terms, gradient, curvature = (np.zeros(scores.size) for _ in range(3))
        for b, (rows, side, weight) in zip(thresholds, self._terms(), strict=True):
            if np.isnan(b):
                continue
            cost, slope, bend = self.phi(side * (scores[rows] - b))
            terms[rows] += weight * cost
            gradient[rows] += weight * side * slope
            curvature[rows] += weight * bend
        return sum_by_query(self.data, terms, value), gradient, curvature


def _cuts(loss: ThresholdLoss, labels: np.ndarray) -> np.ndarray:
    if loss.cuts is not None:
        return np.array(loss.cuts)
    grades = np.unique(labels[labels >= 0])
    if grades.size > _MOST_GRADES:
        raise LossError(f"{loss.name}: there are {grades.size} different labels; give cuts=… to make fewer grades")
    return 0.5 * (grades[1:] + grades[:-1])
