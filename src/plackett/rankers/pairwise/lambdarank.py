"""LambdaRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pairwise.lambdas import Lambda
from plackett.models.networks.neural import Neural
from plackett.rankers.base import GradientTrained

__all__ = ["LambdaRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class LambdaRank(GradientTrained, Neural):
    """LambdaRank: a two-layer network that follows the lambda gradient of a measure (`plackett.losses.Lambda`).

    Needs the extra ``neural``; on trees the same gradient is `LambdaMART`.

    Parameters
    ----------
    measure
        Any measure with a swap delta: nDCG, AP, RR, ERR, P, ARP, …
    truncation
        Only pairs with a document in this many top ranks count; None uses all pairs.
    sigma
        Steepness of the sigmoid.
    normalize
        Keep queries with many pairs from dominating.

    References
    ----------
    Burges, Ragno, Le: Learning to rank with nonsmooth cost functions. NIPS 2006.
    """

    architecture: str = "sigmoid"
    learning_rate: float = 0.01
    weight_decay: float = 5.0
    measure: Any = "nDCG"
    truncation: int | None = None
    sigma: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Lambda(measure=self.measure, truncation=self.truncation, sigma=self.sigma, normalize=self.normalize)
