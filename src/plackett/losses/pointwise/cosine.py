"""Cosine loss: the angle between scores and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData

__all__ = ["Cosine"]

Top = Callable[[np.ndarray], np.ndarray]


def _exponential(values: np.ndarray, top: Top) -> tuple[np.ndarray, np.ndarray]:
    power = np.exp(values - top(values))  # the cosine does not see a common factor
    return power, power


def _logistic(values: np.ndarray, top: Top) -> tuple[np.ndarray, np.ndarray]:
    # the common factor σ(top) is taken out: values far below 0 keep their proportions
    high = top(values)
    share = np.exp(np.logaddexp(0.0, -high) - np.logaddexp(0.0, -values))
    return share, share * np.exp(-np.logaddexp(0.0, values))


def _linear(values: np.ndarray, top: Top) -> tuple[np.ndarray, np.ndarray]:
    return values, np.ones_like(values)


#: Transformations of scores and labels, up to a positive factor per query, with their derivatives.
TRANSFORMS = {"exp": _exponential, "logistic": _logistic, "linear": _linear}


@dataclass(frozen=True, kw_only=True, repr=False)
class Cosine(Loss):
    r"""Cosine loss of a query, :math:`\frac12 - \frac12 \cos(\varphi(y), \varphi(s))` over its judged documents.

    It lies between 0 and 1 (½ where φ is positive), does not grow with the number of documents and, with a linear φ,
    is the same for c·s with c > 0. A document with weight w counts as w copies. A query whose vector of labels
    is zero has loss 0; scores that are all zero are at a right angle to everything, and their gradient, which does
    not exist, is taken as −½ of the direction of the labels.

    Parameters
    ----------
    transform
        φ: ``"exp"``, ``"logistic"`` (1/(1 + e^−x)) or ``"linear"``.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> loss = Cosine(transform="linear")
    >>> loss([3.0, 0.0], data), loss([0.0, 3.0], data), loss([-3.0, 0.0], data)
    (0.0, 0.5, 1.0)

    References
    ----------
    Qin, Zhang, Tsai, Wang, Liu, Li: Query-level loss functions for information retrieval. Information Processing and
    Management 2008.
    """

    name: ClassVar[str] = "Cosine"
    approach: ClassVar[str] = "pointwise"
    shift_invariant: ClassVar[bool] = False
    curvature: ClassVar[str] = "none"
    _test_variants = ({"transform": "linear"}, {"transform": "logistic"})

    transform: str = "exp"

    def __post_init__(self) -> None:
        choice(f"{self.name}: transform", self.transform, TRANSFORMS, error=LossError)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the gradient is continuous: not at zero scores where φ is linear."""
        return self.transform != "linear"

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Weights, targets of length 1, and the weight of each query that has one."""
        data, weight = bound.data, bound.sample_weight * (bound.data.labels >= 0)
        target, _ = TRANSFORMS[self.transform](np.maximum(data.labels, 0.0), partial(_top, data, weight))
        length = np.sqrt(np.bincount(data.query_of_row, weight * target**2, data.n_queries))
        counts = length > 0.0
        return weight, target / np.where(counts, length, 1.0)[data.query_of_row], counts

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and (no) curvature per score."""
        weight, target, counts = bound.constants
        data, query = bound.data, bound.data.query_of_row
        moved, slope = TRANSFORMS[self.transform](scores, partial(_top, data, weight))
        length = np.sqrt(np.bincount(query, weight * moved**2, data.n_queries))
        safe = np.where(length > 0.0, length, 1.0)
        unit = moved / safe[query]
        cosine = np.bincount(query, weight * (target * unit), data.n_queries)
        scale = (-0.5 * bound.query_weight * counts / safe)[query] * weight * slope
        losses = 0.5 * bound.query_weight * counts * (1.0 - cosine)
        return losses, scale * (target - cosine[query] * unit), np.zeros_like(scores)


def _top(data: RankingDataset, weight: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Largest value among the documents of each query that count, for each row."""
    tops = np.full(data.n_queries, -np.inf)
    np.maximum.at(tops, data.query_of_row, np.where(weight > 0, values, -np.inf))
    # documents that do not count may lie above it; they are cut off, as their weight is 0
    return np.maximum(tops[data.query_of_row], np.where(weight > 0, -np.inf, values))
