"""XE-NDCG on trees."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.listwise.xendcg import XENDCGLoss
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["XENDCG"]


@dataclass(kw_only=True, eq=False, repr=False)
class XENDCG(GradientTrained, Trees):
    """XE-NDCG: gradient-boosted trees on a convex cross entropy that bounds nDCG (`plackett.losses.XENDCGLoss`).

    It is the loss of LightGBM's ``rank_xendcg``, with the exact gradient, and with the noise γ fixed or drawn once
    instead of in every round.

    Parameters
    ----------
    gamma
        γ in the target 2^label − γ.
    noise
        Draw γ of each document from [0, 1) with `random_state` instead.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = XENDCG(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Bruch: An alternative cross entropy loss for learning-to-rank. WWW 2021.
    """

    gamma: float = 0.5
    noise: bool = False

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return XENDCGLoss(gamma=self.gamma, random_state=(self.random_state or 0) if self.noise else None)
