"""Linear regression on labels or gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["LinearRegression"]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(GradientTrained, Linear):
    r"""Linear regression: :math:`\min_v \frac{1}{2} \sum_j (v \cdot x_j + b - t(y_j))^2` plus a penalty; rank by v · x.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1, for which the loss bounds 1 − nDCG), or a table
        label: target.

    Examples
    --------
    >>> ranker = LinearRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cossock and Zhang: Subset ranking using regression. COLT 2006.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)
