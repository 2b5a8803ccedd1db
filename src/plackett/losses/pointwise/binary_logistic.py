"""Logistic loss of relevant against irrelevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise._binary import signs_and_weights, sum_by_query

__all__ = ["BinaryLogistic"]


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryLogistic(Loss):
    r"""Logistic loss :math:`\sum_j w_j \log(1 + e^{-a_j s_j})`, a = 1 for relevant documents and −1 for others.

    The score is the log-odds of relevance. With an L2 penalty this is the maximum-entropy model.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> gradient, _ = BinaryLogistic().gradient([0.0, 0.0], data)
    >>> gradient.tolist()  # probability less label
    [-0.5, 0.5]

    References
    ----------
    Gey: Inferring probability of relevance using the method of logistic regression. SIGIR 1994.
    """

    name: ClassVar[str] = "BinaryLogistic"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"rel": 2.0},)

    rel: float = 1.0

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: BinaryLogistic, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.side, self.weight = signs_and_weights(self, loss.rel)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        z = self.side * scores
        terms = np.logaddexp(0.0, -z)
        wrong = np.exp(-np.logaddexp(0.0, z))  # 1 / (1 + e^z)
        losses = sum_by_query(self.data, self.weight * terms, value)
        return losses, -self.side * self.weight * wrong, self.weight * wrong * np.exp(-terms)
