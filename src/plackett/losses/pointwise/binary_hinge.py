"""Hinge loss of relevant against irrelevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise._binary import signs_and_weights, sum_by_query

__all__ = ["BinaryHinge"]


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryHinge(Loss):
    r"""Hinge loss :math:`\sum_j w_j \max(0, 1 - a_j s_j)`, a = 1 for relevant documents and −1 for others.

    The loss of a support vector machine that separates relevant documents from others; it is at least the number of
    documents on the wrong side.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> BinaryHinge()([0.5, -3.0], data)
    0.5

    References
    ----------
    Nallapati: Discriminative models for information retrieval. SIGIR 2004.
    """

    name: ClassVar[str] = "BinaryHinge"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"rel": 2.0},)

    rel: float = 1.0

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: BinaryHinge, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.side, self.weight = signs_and_weights(self, loss.rel)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score, which is the weight where something is charged."""
        miss = 1.0 - self.side * scores
        violated = self.weight * (miss > 0.0)
        return sum_by_query(self.data, violated * miss, value), -self.side * violated, violated
