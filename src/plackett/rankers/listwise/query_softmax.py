"""The cross entropy of labels and scores on trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.listwise.query_softmax import QuerySoftmaxLoss
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["QuerySoftmax"]


@dataclass(kw_only=True, eq=False, repr=False)
class QuerySoftmax(GradientTrained, Trees):
    """Gradient-boosted trees on the cross entropy of labels and softmax of scores, as CatBoost's ``QuerySoftMax``.

    Parameters
    ----------
    target
        Share of a label: ``"linear"`` (the label), ``"exp2"`` (2^label − 1) or a table label: value.
    beta
        Scale of the scores in the softmax.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ranker = QuerySoftmax(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Bruch, Wang, Bendersky, Najork: An analysis of the softmax cross entropy loss for learning-to-rank with binary
    relevance. ICTIR 2019.
    """

    target: Any = "linear"
    beta: float = 1.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return QuerySoftmaxLoss(target=self.target, beta=self.beta)
