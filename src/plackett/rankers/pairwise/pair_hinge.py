"""Linear ranker on the hinge pair loss."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pairwise.hinge import Hinge
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["PairHinge"]


@dataclass(kw_only=True, eq=False, repr=False)
class PairHinge(GradientTrained, Linear):
    r"""Linear ranker that minimises :math:`\sum \max(0, 1 - (s_u - s_v))` over pairs by stochastic steps.

    The objective of Ranking SVM, approached by AdaGrad over batches of queries: fast, but not exact.

    Parameters
    ----------
    margin
        Margin by which the better document should lead.
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate (as in IR-SVM).

    Examples
    --------
    >>> ranker = PairHinge().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Herbrich, Graepel, Obermayer: Large margin rank boundaries for ordinal regression. 2000.
    """

    max_iter: int = 60
    margin: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Hinge(margin=self.margin, normalize=self.normalize)
