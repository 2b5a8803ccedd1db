"""Bartell's ranker: rank correlation, by its gradient."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pairwise.guttman import Guttman
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["BartellRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class BartellRanker(GradientTrained, Linear):
    r"""A linear model that maximises Guttman's point alienation, the oldest of the learned combinations of rankings.

    Maximises the mean over queries of
    :math:`\sum_{(u, v)} (s_u - s_v) \big/ \sum_{(u, v)} |s_u - s_v|` over the pairs in which u is preferred to v
    (`plackett.losses.Guttman`), by L-BFGS from zero weights.

    Parameters
    ----------
    alpha
        Strength of the penalty, 1 by default, chosen on validation queries of several small sets (see "Defaults on
        small data" in the guide to rankers).
    epsilon
        Width over which the kink of the absolute value is smoothed, in units of the scores. A smaller value is closer
        to the definition, but training is more likely to get stuck early, at one of the many kinks.

    Examples
    --------
    >>> ranker = BartellRanker().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Bartell, Cottrell, Belew: Automatic combination of multiple ranked retrieval systems. SIGIR 1994.
    """

    alpha: float = 1.0
    epsilon: float = 0.1

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Guttman(epsilon=self.epsilon)
