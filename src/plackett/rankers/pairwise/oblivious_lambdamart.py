"""LambdaMART on oblivious trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pairwise.lambdas import Lambda
from plackett.models.trees.oblivious import Oblivious
from plackett.rankers.base import GradientTrained

__all__ = ["ObliviousLambdaMART"]


@dataclass(kw_only=True, eq=False, repr=False)
class ObliviousLambdaMART(GradientTrained, Oblivious):
    """LambdaMART with symmetric trees: all nodes of a level compare the same feature with the same threshold.

    Parameters
    ----------
    measure
        Any measure with a swap delta: nDCG, AP, RR, ERR, P, ARP, …
    truncation
        Only pairs with a document in this many top ranks count; None uses all pairs.
    sigma
        Steepness of the sigmoid.
    normalize
        Keep queries with many pairs from dominating, as LightGBM does.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> y, qid = [i % 10 > 5 for i in range(100)], [i // 10 for i in range(100)]
    >>> ObliviousLambdaMART(n_estimators=10, depth=2).fit(X, y, qid=qid).rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.
    """

    measure: Any = "nDCG"
    truncation: int | None = 30
    sigma: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Lambda(measure=self.measure, truncation=self.truncation, sigma=self.sigma, normalize=self.normalize)
