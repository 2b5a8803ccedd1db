"""MART on oblivious trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.trees.oblivious import Oblivious
from plackett.rankers.base import GradientTrained

__all__ = ["ObliviousMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class ObliviousMART(GradientTrained, Oblivious):
    """MART with symmetric regression trees: all nodes of a level compare the same feature with the same threshold.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ObliviousMART(n_estimators=10, depth=2).fit(X, y, qid=qid).rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.
    """

    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)
