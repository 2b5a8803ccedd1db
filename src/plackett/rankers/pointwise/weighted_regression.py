"""Linear regression that counts relevant documents more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pointwise.weighted_square import WeightedSquare
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["WeightedRegression"]


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedRegression(GradientTrained, Linear):
    r"""Importance-weighted ridge regression: :math:`\min_v \frac12 \sum_j \omega(y_j) (v \cdot x_j + b - t(y_j))^2`.

    A penalty on v is added; ω = 1 + strength · importance, and documents are ranked by v · x.

    The form in which only the worst irrelevant document is penalised is the loss ``"SubsetSquare"`` of
    `GradientRanker`.

    Parameters
    ----------
    importance, strength
        How much more relevant documents count: ``"linear"``, ``"exp2"`` (2^label − 1), ``"binary"`` or a table
        label: importance, and its factor; 0 is plain regression.
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> ranker = WeightedRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cossock and Zhang: Subset ranking using regression. COLT 2006.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    importance: Any = "linear"
    strength: float = 1.0
    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return WeightedSquare(importance=self.importance, strength=self.strength, target=self.target)
