"""P-norm push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.pnorm_push import PNormPushLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["PNormPush"]


@dataclass(kw_only=True, eq=False, repr=False)
class PNormPush(GradientTrained, Linear):
    r"""P-norm push: a linear model that keeps bad documents away from the top of the list.

    Minimises :math:`\sum_v \big(\sum_{u:\,y_u > y_v} e^{-(s_u - s_v)}\big)^p` (`plackett.losses.PNormPushLoss`), which
    is convex, by L-BFGS.

    Parameters
    ----------
    alpha
        Strength of the penalty, 10 by default, chosen on validation queries of several small sets (see "Defaults on
        small data" in the guide to rankers).
    p
        The power, at least 1: 1 counts all pairs equally, as RankBoost does; the larger p is, the more the worst
        documents at the top dominate.
    normalize
        Take means instead of sums in each query, so that long lists do not dominate.

    Examples
    --------
    >>> ranker = PNormPush().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Rudin: The P-norm push: a simple convex ranking algorithm that concentrates at the top of the list. JMLR 2009.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 100.0, log=True), "p": (1.0, 2.0, 4.0, 8.0)}

    alpha: float = 10.0
    p: float = 4.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return PNormPushLoss(p=self.p, normalize=self.normalize)
