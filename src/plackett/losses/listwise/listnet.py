"""ListNet: cross entropy of the top-one probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.measures.gains import check_gain, gains_of

__all__ = ["ListNetLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ListNetLoss(Loss):
    r"""Cross entropy between the top-one probabilities of the labels and of the scores.

    .. math:: L = \sum_j P_j \log \frac{P_j}{Q_j}, \quad P_j \propto w_j e^{g(y_j) / \tau},\ Q_j \propto e^{s_j}

    so that a perfect fit has loss 0. The gradient is :math:`Q - P`. A query whose labels are all equal has loss and
    gradient 0: it says nothing about order.

    Parameters
    ----------
    target
        What stands in the exponent: ``"linear"`` (the label), ``"exp2"`` (2^label − 1) or a table label: value.
    temperature
        τ; smaller makes the target prefer the best documents more.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """

    name: ClassVar[str] = "ListNet"
    ids: ClassVar[tuple[str, ...]] = ("lecture.listwise",)
    paper: ClassVar[str] = "Cao, Qin, Liu, Tsai, Li 2007"
    convex: ClassVar[bool] = True

    target: Any = "linear"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: ListNetLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.target = np.empty(data.n_rows)
        exponent = gains_of(data.labels, loss.target) / loss.temperature
        over_queries(_target, data.offsets, data.labels, exponent, self.sample_weight, self.target, n_jobs=n_jobs)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        out = tuple(self._buffers())
        over_queries(_listnet, self.data.offsets, scores, self.target, self.query_weight, *out, n_jobs=self.n_jobs)
        return out  # type: ignore[return-value]


@kernel
def _target(lo, hi, offsets, labels, exponent, weight, out):  # type: ignore[no-untyped-def]
    """Top-one probabilities of the labels; −1 for documents that take no part."""
    for q in range(lo, hi):
        low = np.inf
        high = -np.inf
        largest = -np.inf
        for i in range(offsets[q], offsets[q + 1]):
            if labels[i] >= 0.0:
                low = min(low, labels[i])
                high = max(high, labels[i])
                largest = max(largest, exponent[i])
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            out[i] = weight[i] * np.exp(exponent[i] - largest) if labels[i] >= 0.0 else -1.0
            total += max(out[i], 0.0)
        for i in range(offsets[q], offsets[q + 1]):
            if low >= high or total <= 0.0:
                out[i] = -1.0
            elif out[i] > 0.0:
                out[i] /= total


@kernel
def _listnet(lo, hi, offsets, scores, target, query_weight, value, gradient, curvature):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        largest = -np.inf
        for i in range(a, b):
            if target[i] >= 0.0:
                largest = max(largest, scores[i])
        total = 0.0
        for i in range(a, b):
            if target[i] >= 0.0:
                gradient[i] = np.exp(scores[i] - largest)
                total += gradient[i]
        if total == 0.0:
            continue  # nobody takes part
        log_total = np.log(total)
        loss = 0.0
        for i in range(a, b):
            if target[i] >= 0.0:
                p = gradient[i] / total
                if target[i] > 0.0:
                    loss += target[i] * (np.log(target[i]) - (scores[i] - largest - log_total))
                gradient[i] = query_weight[q] * (p - target[i])
                curvature[i] = query_weight[q] * p * (1.0 - p)
        value[q] = query_weight[q] * loss
