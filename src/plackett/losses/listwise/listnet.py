"""ListNet: cross entropy of the top-one probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.vector_math import exp
from plackett.losses.base import DeviceForm, Loss, LossOnData, finite_gains
from plackett.measures.gains import check_gain

__all__ = ["ListNetLoss"]


def _device_gradient(torch: Any, scores: Any, target: Any) -> Any:
    """Softmax of those who take part minus their targets."""
    out = target < 0.0
    softmax = scores.masked_fill(out, torch.finfo(scores.dtype).min).softmax(1)
    return softmax.sub_(target).masked_fill_(out, 0.0)


@kernel
def _target(lo, hi, offsets, labels, exponent, weight, out, entropy):
    """Top-one probabilities P of the labels, −1 for ignored documents; Σ P log P of each query."""
    for q in range(lo, hi):
        low = np.inf
        high = -np.inf
        largest = -np.inf
        for i in range(offsets[q], offsets[q + 1]):
            if labels[i] >= 0.0:
                low = min(low, labels[i])
                high = max(high, labels[i])
                if weight[i] > 0.0:
                    largest = max(largest, exponent[i])
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            out[i] = -1.0
            if labels[i] >= 0.0 and low < high and largest > -np.inf:
                out[i] = weight[i] * np.exp(exponent[i] - largest) if weight[i] > 0.0 else 0.0
                total += out[i]
        entropy[q] = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            if out[i] > 0.0:
                out[i] /= total
                entropy[q] += out[i] * np.log(out[i])


@kernel(fastmath=REASSOC)
def _largest(scores, target):
    largest = -np.inf
    for i in range(scores.size):
        s = scores[i] if target[i] >= 0.0 else -np.inf
        largest = s if s > largest else largest
    return largest


@kernel(fastmath=REASSOC)
def _powers(scores, target, largest, power):
    """e^(s − largest) of those who take part, their sum, and Σ P (s − largest)."""
    total = 0.0
    cross = 0.0
    for i in range(scores.size):
        s = scores[i] - largest
        part = target[i] >= 0.0
        p = exp(s) if part else 0.0
        power[i] = p
        total += p
        cross += target[i] * s if part else 0.0
    return total, cross


@kernel(fastmath=REASSOC)
def _finish(target, power, total, weight, gradient, curvature):
    for i in range(target.size):
        p = power[i] / total
        gradient[i] = weight * (p - (target[i] if target[i] > 0.0 else 0.0))
        curvature[i] = weight * p * (1.0 - p)


@kernel
def _listnet(lo, hi, offsets, scores, target, entropy, query_weight, value, gradient, curvature):
    lane = lanes(1, longest(lo, hi, offsets))
    memory = lane[0]
    for q in range(lo, hi):
        r = slice(offsets[q], offsets[q + 1])
        power = memory[: r.stop - r.start]
        largest = _largest(scores[r], target[r])
        if largest == -np.inf:
            continue  # all documents are ignored
        total, cross = _powers(scores[r], target[r], largest, power)
        _finish(target[r], power, total, query_weight[q], gradient[r], curvature[r])
        value[q] = query_weight[q] * (entropy[q] + np.log(total) - cross)


@dataclass(frozen=True, kw_only=True, repr=False)
class TopOneLoss(Loss):
    """Base of the losses that compare top-one probabilities: those of the labels, and the softmax of the scores."""

    convex: ClassVar[bool] = True
    kernel = staticmethod(_listnet)

    def exponent(self, bound: LossOnData) -> np.ndarray:
        """Logarithm of what the probability of each document is proportional to, before its weight."""
        raise NotImplementedError

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Target probabilities, minus the entropy of each query, and its weight."""
        data, exponent = bound.data, self.exponent(bound)
        target, entropy = np.empty(data.n_rows), np.empty(data.n_queries)
        read = data.labels, exponent, bound.sample_weight
        over_queries(_target, data.offsets, *read, target, entropy, n_jobs=bound.n_jobs)
        return target, entropy, bound.query_weight

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """How an accelerator computes the gradient."""
        target, _, query_weight = bound.constants
        return DeviceForm(_device_gradient, ((target, -1.0),), query_weight)


@dataclass(frozen=True, kw_only=True, repr=False)
class ListNetLoss(TopOneLoss):
    r"""Cross entropy between the top-one probabilities of the labels and of the scores.

    .. math:: L = \sum_j P_j \log \frac{P_j}{Q_j}, \quad P_j \propto w_j e^{g(y_j) / \tau},\ Q_j \propto e^{s_j}

    so that a perfect fit has loss 0. The gradient is :math:`Q - P`. A query whose labels are all equal has loss and
    gradient 0: it carries no information about the order.

    Parameters
    ----------
    target
        The exponent: ``"linear"`` (the label), ``"exp2"`` (2^label − 1) or a table label: value.
    temperature
        τ; a smaller value concentrates the target on the best documents.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """

    name: ClassVar[str] = "ListNet"
    _test_variants = ({"target": "exp2", "temperature": 3.0}, {"target": {0: 0, 1: 5, 2: 1}})

    target: Any = "linear"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))
        number(f"{self.name}: temperature", self.temperature, above=0, error=LossError)

    def exponent(self, bound: LossOnData) -> np.ndarray:
        """The target, divided by the temperature."""
        return finite_gains(bound.data.labels, self.target, self.name) / self.temperature
