"""Logistic loss of relevant against irrelevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.losses.base import Loss, LossOnData
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

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Sides and weights of the documents."""
        return signs_and_weights(bound, self.rel)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        side, weight = bound.constants
        z = side * scores
        terms = np.logaddexp(0.0, -z)
        wrong = np.exp(-np.logaddexp(0.0, z))  # 1 / (1 + e^z)
        losses = sum_by_query(bound.data, weight * terms if value else None)
        return losses, -side * weight * wrong, weight * wrong * np.exp(-terms)
