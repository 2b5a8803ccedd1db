"""Boosted regression trees up to a constant per query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.listwise.query_square import QuerySquare
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["QueryRMSE"]


@dataclass(kw_only=True, eq=False, repr=False)
class QueryRMSE(GradientTrained, Trees):
    """Gradient-boosted trees on the squared error up to a constant per query, as CatBoost's ``QueryRMSE``.

    Like `MART`, but queries need not be comparable: only label differences within a query are learned.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = QueryRMSE(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Friedman: Greedy function approximation: a gradient boosting machine. Annals of Statistics 2001.
    """

    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return QuerySquare(target=self.target)
