"""QBRank: boosted trees on a quadratic bound of the squared hinge pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.quadratic_bound import QuadraticBound
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["QBRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class QBRank(GradientTrained, Trees):
    r"""QBRank: each tree minimises a quadratic upper bound of :math:`\sum \max(0, \tau - (s_u - s_v))^2`.

    The bound touches the loss at the current scores and lies above it everywhere (`plackett.losses.QuadraticBound`):
    the weight of a document is the number of its pairs, violated or not, and its target is the negative gradient over
    that weight. A step that fits the targets never increases the loss.

    Parameters
    ----------
    tau
        Margin by which the better document should lead.
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = QBRank(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Zheng, Zha, Zhang, Chapelle, Chen, Sun: A general boosting method and its application to learning ranking functions
    for web search. NIPS 2007.
    """

    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Real(0.02, 0.2, log=True),
        "num_leaves": Integer(4, 32, log=True),
        "tau": Real(0.3, 3.0, log=True),
    }

    tau: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return QuadraticBound(margin=self.tau, normalize=self.normalize)
