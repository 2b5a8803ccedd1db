"""Softmax cross entropy over label classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
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
        number(f"{self.name}: gamma", self.gamma, above=0, error=LossError)
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
        return self.replace(n_classes=self.n_outputs(data))

    def n_outputs(self, data: RankingDataset) -> int:
        """One score for each class."""
        return max(classes_of(self, data)[2], 2)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Targets and weights."""
        whole, judged, _ = classes_of(self, bound.data)
        target = np.zeros((bound.data.n_rows, bound.n_outputs))
        target[np.flatnonzero(judged), whole[judged]] = 1.0
        return target, judged_weight(bound)[:, None]

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        target, weight = bound.constants
        shifted = self.gamma * (scores - scores.max(axis=1, keepdims=True))
        probability = np.exp(shifted)
        total = probability.sum(axis=1, keepdims=True)
        probability /= total
        terms = weight[:, 0] * (np.log(total[:, 0]) - (shifted * target).sum(axis=1)) if value else None
        gradient = self.gamma * weight * (probability - target)
        return sum_by_query(bound.data, terms), gradient, self.gamma**2 * weight * probability * (1.0 - probability)
