"""Hinge loss of relevant against irrelevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.losses.base import Loss, LossOnData
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

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Sides and weights of the documents."""
        return signs_and_weights(bound, self.rel)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score, which is the weight where something is charged."""
        side, weight = bound.constants
        miss = 1.0 - side * scores
        violated = weight * (miss > 0.0)
        return sum_by_query(bound.data, violated * miss if value else None), -side * violated, violated
