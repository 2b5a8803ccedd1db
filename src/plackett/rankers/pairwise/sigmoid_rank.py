"""SigmoidRank: a linear ranker refined by the sigmoid pair loss."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pairwise.sigmoid import Sigmoid
from plackett.rankers.pairwise._refined import Refined

__all__ = ["SigmoidRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class SigmoidRank(Refined):
    r"""SigmoidRank: another linear ranker, refined by the smooth count of misordered pairs.

    Minimises :math:`\sum 1/(1 + e^{\sigma (s_u - s_v)})` (`plackett.losses.Sigmoid`), starting from the weights of
    ``base``. Pairs that cannot be ordered correctly count no more than others, so wrong labels do little harm. The loss
    is not convex: the result is a local minimum, never worse on the training data than the start.

    Parameters
    ----------
    sigma
        Steepness σ on the scale of the scores of the base.

    Examples
    --------
    >>> ranker = SigmoidRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Carvalho, Elsas, Cohen, Carbonell: A meta-learning approach for robust rank learning. LR4IR 2008.
    """

    sigma: float = 2.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Sigmoid(sigma=self.sigma, normalize=self.normalize)
