"""Softmax cross entropy over label classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise._classes import check_n_classes, class_gains, classes_of
from plackett.measures.gains import check_gain

__all__ = ["Softmax"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Softmax(Loss):
    r"""Cross entropy over label classes: :math:`-\sum_j w_j \log P_{y_j}` with :math:`P_k \propto e^{\gamma s_{jk}}`.

    A document has one score per class 0..K−1, and is ranked by its expected gain :math:`\sum_k g(k) P_k`.

    Parameters
    ----------
    n_classes
        K; None uses the largest label of the data plus one. Labels must be whole numbers.
    gamma
        Inverse temperature.
    gain
        Value of the grades in the ranking: ``"linear"``, ``"exp2"`` or a table label: gain.

    References
    ----------
    Li, Burges, Wu: McRank. NIPS 2007.
    """

    name: ClassVar[str] = "Softmax"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"gamma": 0.3}, {"n_classes": 7})

    n_classes: int | None = None
    gamma: float = 1.0
    gain: Any = "linear"

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise LossError(f"{self.name}: gamma={self.gamma}; give a positive number")
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        check_n_classes(self)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probability of each class."""
        power = np.exp(self.gamma * (scores - scores.max(axis=1, keepdims=True)))
        return power / power.sum(axis=1, keepdims=True)

    def ranking_scores(self, scores: np.ndarray) -> np.ndarray:
        """Expected gain of each document."""
        return self.probabilities(scores) @ class_gains(scores.shape[1], self.gain)

    def takes(self, n_outputs: int) -> bool:
        """Whether there is one output per class."""
        return n_outputs >= 2 if self.n_classes is None else n_outputs == max(self.n_classes, 2)

    def settle(self, data: RankingDataset) -> Softmax:
        """The loss with the number of classes of the whole dataset."""
        return self.replace(n_classes=self.bind(data).n_outputs)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: Softmax, data: RankingDataset, n_jobs: int | None) -> None:
        whole, judged, classes = classes_of(loss, data)
        super().__init__(data, n_jobs=n_jobs, n_outputs=max(classes, 2))
        self.gamma = loss.gamma
        self.weight = (data.row_weight * judged)[:, None]
        self.target = np.zeros((data.n_rows, self.n_outputs))
        self.target[np.flatnonzero(judged), whole[judged]] = 1.0

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        shifted = self.gamma * (scores - scores.max(axis=1, keepdims=True))
        probability = np.exp(shifted)
        total = probability.sum(axis=1, keepdims=True)
        probability /= total
        losses: np.ndarray = np.zeros(self.data.n_queries)
        if value:
            terms = self.weight[:, 0] * (np.log(total[:, 0]) - (shifted * self.target).sum(axis=1))
            losses = np.bincount(self.data.query_of_row, terms, self.data.n_queries)
        gradient = self.gamma * self.weight * (probability - self.target)
        return losses, gradient, self.gamma**2 * self.weight * probability * (1.0 - probability)
