"""Boosted trees on LambdaLoss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pairwise.lambda_loss import LambdaLoss
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["LambdaLossMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class LambdaLossMART(GradientTrained, Trees):
    r"""LambdaLossMART: gradient-boosted trees on a bound of 1 − nDCG or of the average relevant position.

    The pair weights of `plackett.losses.LambdaLoss` come from the current ranks and are held fixed inside a step; each
    tree takes a Newton step.

    Parameters
    ----------
    bound
        ``"nDCG1"``, ``"nDCG2"``, ``"nDCG2++"``, ``"ARP1"`` or ``"ARP2"``.
    mu
        Weight in ``"nDCG2++"`` of the term of ``"nDCG2"``, next to LambdaRank's.
    sigma
        Steepness of the sigmoid.
    gain
        Gain of the nDCG bounds.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ranker = LambdaLossMART(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Wang, Li, Golbandi, Bendersky, Najork: The LambdaLoss framework for ranking metric optimization. CIKM 2018.
    """

    bound: str = "nDCG2++"
    mu: float = 5.0
    sigma: float = 1.0
    gain: Any = "exp2"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return LambdaLoss(bound=self.bound, mu=self.mu, sigma=self.sigma, gain=self.gain)
