"""Squared error up to a constant per query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.measures.gains import check_gain

__all__ = ["QuerySquare"]


@kernel
def _query_square(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, target, weight, labels, query_weight, value, gradient, curvature
):
    for q in range(lo, hi):
        total = 0.0
        mean = 0.0
        low = np.inf
        high = -np.inf
        for i in range(offsets[q], offsets[q + 1]):
            if weight[i] > 0.0:
                total += weight[i]
                mean += weight[i] / total * (scores[i] - target[i] - mean)
                low = min(low, labels[i])
                high = max(high, labels[i])
        if not low < high:
            continue  # no information about the order
        for i in range(offsets[q], offsets[q + 1]):
            if weight[i] > 0.0:
                w = query_weight[q] * weight[i]
                rest = scores[i] - target[i] - mean
                value[q] += 0.5 * w * rest * rest
                gradient[i] = w * rest
                curvature[i] = w * (1.0 - weight[i] / total)


@dataclass(frozen=True, kw_only=True, repr=False)
class QuerySquare(Loss):
    r"""Squared error of scores that may be off by a constant in each query: CatBoost's ``QueryRMSE``.

    .. math:: L = \min_c \tfrac12 \sum_i w_i\,(s_i + c - g(y_i))^2

    The best c is the weighted mean of the residuals, so that queries need not be comparable with each other. It is
    the loss over all pairs :math:`\tfrac12 \sum_{u<v} w_u w_v (s_u - s_v - g(y_u) + g(y_v))^2 / \sum w`:
    `MagnitudePreserving` with β = 2, except for the weight of long lists. Unjudged documents are ignored. A query whose
    labels are all equal has loss and gradient 0.

    Parameters
    ----------
    target
        g: ``"linear"`` (the label), ``"exp2"`` (2^label − 1) or a table label: target.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> QuerySquare()(np.array([6.0, 5.0]), data), QuerySquare()(np.zeros(2), data)
    (0.0, 0.25)

    References
    ----------
    Cossock, Zhang: Subset ranking using regression. COLT 2006 (regression for ranking).
    """

    name: ClassVar[str] = "QuerySquare"
    aliases: ClassVar[tuple[str, ...]] = ("QueryRMSE",)
    _test_variants = ({"target": "exp2"},)
    convex: ClassVar[bool] = True
    kernel = staticmethod(_query_square)

    target: Any = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Targets and weights."""
        labels = bound.data.labels
        weight = np.where(labels >= 0, bound.sample_weight, 0.0)
        return finite_gains(labels, self.target, self.name), weight, labels, bound.query_weight
