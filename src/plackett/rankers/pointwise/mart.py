"""MART: boosted regression trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["MART"]


@dataclass(kw_only=True, eq=False, repr=False)
class MART(GradientTrained, Trees):
    """Multiple additive regression trees: gradient boosting with the square loss; rank by the predicted label.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = MART(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Friedman: Greedy function approximation: a gradient boosting machine. Annals of Statistics 2001.
    """

    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)
