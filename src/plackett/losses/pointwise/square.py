"""Square loss on labels or gains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.losses.base import DeviceForm, Loss, LossOnData, finite_gains
from plackett.losses.bounds.known_bound import KnownBound
from plackett.losses.bounds.regression import square_bounds
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
from plackett.measures.base import Measure
from plackett.measures.gains import check_gain

__all__ = ["Square"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Square(Loss):
    r"""Square loss :math:`\frac12 \sum_j w_j (s_j - t_j)^2` with the label, or a gain of it, as the target.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1; 1 − nDCG is then at most a constant of the query times the
        root of the loss), ``"binary"``, or a table label: target.

    References
    ----------
    Cossock and Zhang: Subset ranking using regression. COLT 2006.
    """

    name: ClassVar[str] = "Square"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"target": "exp2"}, {"target": {0: 0.5, 1: 3, 2: 1}})

    target: Any = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Targets and weights."""
        return finite_gains(bound.data.labels, self.target, self.name), judged_weight(bound)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        target, weight = bound.constants
        miss = scores - target
        gradient = weight * miss
        losses = sum_by_query(bound.data, 0.5 * gradient * miss if value else None)
        return losses, gradient, weight.copy()

    def bounds_of(self, measure: Measure) -> Iterable[KnownBound]:
        """Bounds of nDCG and AP, whose gains or labels are the targets."""
        return square_bounds(self, measure)

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """How an accelerator computes the gradient."""
        weight = bound.sample_weight * (bound.data.labels >= 0)
        return DeviceForm(_device_gradient, ((bound.constants[0], 0.0), (weight, 0.0)), bound.query_weight)


def _device_gradient(torch: Any, scores: Any, target: Any, weight: Any) -> Any:
    return (scores - target).mul_(weight)
