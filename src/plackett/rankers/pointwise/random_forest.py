"""Random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pointwise.square import Square
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["RandomForest"]


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(GradientTrained, Trees):
    """Random forest of regression trees, each on a bootstrap of the queries, with splits on a random half of the
    features.

    Ranked by the mean predicted label. ``learning_rate`` has no meaning in a forest; ``subsample`` is the size of a
    bootstrap and ``colsample_bytree`` the share of the features at each split. Forests on other losses are
    ``boosting="forest"`` of their rankers, such as ``LambdaMART(boosting="forest")``; forests of whole boosted
    ensembles ``boosting="bagged"``.

    Parameters
    ----------
    target
        ``"linear"`` (the label), ``"exp2"`` (2^label − 1), or a table label: target.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y = [i % 10 > 5 for i in range(100)]
    >>> ranker = RandomForest(n_estimators=10).fit(X, y, qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Breiman: Random forests. Machine Learning 2001.
    """

    search_space: ClassVar[SearchSpace] = {
        "num_leaves": Integer(31, 511, log=True),
        "min_child_samples": Integer(1, 40, log=True),
        "colsample_bytree": Real(0.2, 1.0),
    }

    n_estimators: int = 300
    num_leaves: int = 255
    min_child_samples: int = 5
    colsample_bytree: float = 0.5
    boosting: str = "forest"
    target: Any = "linear"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Square(target=self.target)
