"""Square loss that counts relevant documents more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.losses.pointwise._binary import judged_weight, sum_by_query
from plackett.measures.gains import check_gain

__all__ = ["WeightedSquare"]


@dataclass(frozen=True, kw_only=True, repr=False)
class WeightedSquare(Loss):
    r"""Importance-weighted square loss :math:`\frac12 \sum_j w_j \omega(y_j) (s_j - t(y_j))^2`, ω = 1 + c·importance.

    Most documents are irrelevant, and a plain regression focuses on them.

    Parameters
    ----------
    importance, strength
        ω is 1 + strength · importance(label): ``"linear"``, ``"exp2"`` (2^label − 1), ``"binary"`` or a table
        label: importance. A strength of 0 is the plain square loss.
    target
        Target of the scores: ``"linear"`` (the label), ``"exp2"``, ``"binary"`` or a table label: target.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 0], qid=[1, 1])
    >>> WeightedSquare().gradient([0.0, 1.0], data)[0].tolist()
    [-6.0, 1.0]

    References
    ----------
    Cossock and Zhang: Subset ranking using regression. COLT 2006.
    """

    name: ClassVar[str] = "WeightedSquare"
    approach: ClassVar[str] = "pointwise"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"importance": "exp2", "strength": 3.0}, {"target": "exp2"})

    importance: Any = "linear"
    strength: float = 1.0
    target: Any = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "importance", check_gain(self.importance, self.name, "importance"))
        object.__setattr__(self, "target", check_gain(self.target, self.name, "target"))

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Targets and weights."""
        target = finite_gains(bound.data.labels, self.target, self.name)
        importance = finite_gains(bound.data.labels, self.importance, self.name)
        return target, judged_weight(bound) * (1.0 + self.strength * importance)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss per query, gradient and curvature per score."""
        target, weight = bound.constants
        miss = scores - target
        gradient = weight * miss
        return sum_by_query(bound.data, 0.5 * gradient * miss if value else None), gradient, weight.copy()
