"""Logistic loss of the cumulative questions "is the grade k or better?"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
from plackett.losses.pointwise._classes import check_n_classes, class_gains, classes_of
from plackett.measures.gains import check_gain

__all__ = ["Cumulative"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Cumulative(Loss):
    r"""Ordinal classification: a logistic loss for each k = 1..K−1 on whether the grade is k or better.

    .. math:: L = \sum_j w_j \sum_{k=1}^{K-1} \log\big(1 + e^{-z_{jk} s_{jk}}\big), \qquad z_{jk} = \pm 1

    where z is + if :math:`y_j \ge k`. A document has one score per question, and
    :math:`P(y \ge k) = 1 / (1 + e^{-s_k})`. Documents are ranked by their expected gain
    :math:`\sum_k (g(k) - g(k-1)) P(y \ge k)`.

    Parameters
    ----------
    n_classes
        K; None uses the largest label of the data plus one. Labels must be whole numbers.
    gain
        Value of the grades in the ranking: ``"linear"``, ``"exp2"`` or a table label: gain.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [0, 1, 2])
    >>> round(Cumulative()(np.zeros((3, 2)), data), 4)  # six questions, each log 2
    4.1589

    References
    ----------
    Li, Burges, Wu: McRank: learning to rank using multiple classification and gradient boosting. NIPS 2007.
    """

    name: ClassVar[str] = "Cumulative"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"n_classes": 7, "gain": "exp2"},)

    n_classes: int | None = None
    gain: Any = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        check_n_classes(self)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probability of each class; clipped at 0 if the cumulative probabilities contradict each other."""
        at_least = np.hstack([np.ones((len(scores), 1)), _sigmoid(scores), np.zeros((len(scores), 1))])
        chances = np.maximum(-np.diff(at_least, axis=1), 0.0)
        return chances / chances.sum(axis=1, keepdims=True)

    def ranking_scores(self, scores: np.ndarray) -> np.ndarray:
        """Expected gain of each document."""
        return _sigmoid(scores) @ np.diff(class_gains(scores.shape[1] + 1, self.gain))

    def takes(self, n_outputs: int) -> bool:
        """Whether there is one output per question."""
        return n_outputs >= 2 if self.n_classes is None else n_outputs == max(self.n_classes - 1, 2)

    def settle(self, data: RankingDataset) -> Cumulative:
        """The loss with the number of classes of the whole dataset."""
        return self.replace(n_classes=self.n_outputs(data) + 1)

    def n_outputs(self, data: RankingDataset) -> int:
        """One score for each question."""
        return max(classes_of(self, data)[2] - 1, 2)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Answers and weights."""
        whole = classes_of(self, bound.data)[0]
        target = (whole[:, None] > np.arange(bound.n_outputs)).astype(np.float64)
        return target, judged_weight(bound)[:, None]

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        target, weight = bound.constants
        terms = (weight * (np.logaddexp(0.0, scores) - target * scores)).sum(axis=1) if value else None
        losses = sum_by_query(bound.data, terms)
        probability = _sigmoid(scores)
        return losses, weight * (probability - target), weight * probability * (1.0 - probability)


def _sigmoid(scores: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -scores))
