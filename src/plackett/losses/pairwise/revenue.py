"""Bound of the revenue that is lost when paying ads are not on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel
from plackett._kernels.vector_math import exp, log1p
from plackett.losses.base import Loss, LossOnData

__all__ = ["Revenue"]


@kernel
def _revenue(lo, hi, offsets, scores, labels, weight, query_weight, value, gradient, curvature):
    for q in range(lo, hi):
        for j in range(offsets[q], offsets[q + 1]):
            if labels[j] <= 0.0 or weight[j] == 0.0:
                continue
            worth = query_weight[q] * labels[j] * weight[j]
            total, slope, bend = 0.0, 0.0, 0.0
            for k in range(offsets[q], offsets[q + 1]):
                if k == j or labels[k] < 0.0:
                    continue
                x = scores[k] - scores[j]
                e = exp(-abs(x))
                wrong = 1.0 / (1.0 + e) if x >= 0.0 else e / (1.0 + e)
                total += weight[k] * (log1p(e) + max(x, 0.0))
                slope += weight[k] * wrong
                bend += weight[k] * wrong * (1.0 - wrong)
                gradient[k] += worth * weight[k] * wrong
                curvature[k] += worth * weight[k] * wrong * (1.0 - wrong)
            value[q] += worth * total
            gradient[j] -= worth * slope
            curvature[j] += worth * bend


@dataclass(frozen=True, kw_only=True, repr=False)
class Revenue(Loss):
    r"""Smooth bound of the revenue lost when paying ads are not on top; the label of an ad is what it paid.

    .. math:: L = \sum_j y_j \sum_{k \ne j} \log\big(1 + e^{s_k - s_j}\big)

    y is the bid of a clicked ad and 0 for the others. A paying ad competes with all others, including those that also
    pay: both directions of such a pair count, each weighted by its own y. Divided by log 2 it bounds the revenue of ads
    that paid but are not on top. Only rows with :math:`y > 0` contribute, so the cost is their number times the length
    of the list. For grades that only say which document is better see `Logistic`, which counts each pair once.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2.5, 0.0])
    >>> round(float(Revenue()(np.zeros(2), data) / np.log(2)), 4)  # 2.5 against one competitor
    2.5

    References
    ----------
    Zhu, Wang, Yang, Wang, Yan, Hu, Chen: Optimizing search engine revenue in sponsored search. SIGIR 2009.
    """

    name: ClassVar[str] = "Revenue"
    approach: ClassVar[str] = "pairwise"
    convex: ClassVar[bool] = True
    learns_from: ClassVar[str] = "relevant documents"
    kernel = staticmethod(_revenue)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Labels and weights."""
        return bound.data.labels, bound.sample_weight, bound.query_weight
