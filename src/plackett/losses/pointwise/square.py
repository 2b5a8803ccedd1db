"""Square loss on labels or gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, DeviceForm, Loss, finite_gains
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

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: Square, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.target = finite_gains(data.labels, loss.target, loss.name)
        self.weight = data.row_weight * (data.labels >= 0)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        miss = scores - self.target
        gradient = self.weight * miss
        losses: np.ndarray = np.zeros(self.data.n_queries)
        if value:
            losses = np.bincount(self.data.query_of_row, 0.5 * gradient * miss, self.data.n_queries)
        return losses, gradient, self.weight.copy()

    def device_form(self) -> DeviceForm:
        """How an accelerator computes the gradient."""
        weight = self.sample_weight * (self.data.labels >= 0)
        return DeviceForm(_device_gradient, ((self.target, 0.0), (weight, 0.0)), self.query_weight)


def _device_gradient(torch: Any, scores: Any, target: Any, weight: Any) -> Any:
    return (scores - target).mul_(weight)
