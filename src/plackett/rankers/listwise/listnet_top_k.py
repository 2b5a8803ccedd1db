"""Top-k ListNet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.listwise.listnet_top_k import ListNetTopKLoss
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["ListNetTopK"]


@dataclass(kw_only=True, eq=False, repr=False)
class ListNetTopK(GradientTrained, Linear):
    """Top-k ListNet: a linear model whose distribution of the first k ranks approximates that of the labels.

    Minimises `plackett.losses.ListNetTopKLoss`: exact for queries of up to `max_exact` documents, estimated from
    `n_samples` orders for longer ones. k = 1 is `ListNet`.

    Parameters
    ----------
    k
        Number of ranks; None uses full orders.
    distribution, theta
        The target: ``"plackett-luce"`` of the labels, ``"uniform"`` over the orders that the labels allow, or
        ``"mallows"`` around them, with concentration theta.
    target, temperature
        Exponent of the target distribution (``"linear"``, ``"exp2"`` or a table), and the temperature that divides it.
    discount
        Weight of each rank: ``"none"``, ``"log2"``, ``"letor"``, ``"reciprocal"`` or a list of weights.
    max_exact, n_samples
        Longest list that is computed exactly, and the number of orders sampled for longer ones.

    Examples
    --------
    >>> ranker = ListNetTopK().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """

    k: int | None = 3
    distribution: str = "plackett-luce"
    theta: float = 1.0
    target: Any = "linear"
    temperature: float = 1.0
    discount: Any = "none"
    max_exact: int = 10
    n_samples: int = 8

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return ListNetTopKLoss(
            k=self.k,
            distribution=self.distribution,
            theta=self.theta,
            target=self.target,
            temperature=self.temperature,
            discount=self.discount,
            max_exact=self.max_exact,
            n_samples=self.n_samples,
            random_state=self.random_state or 0,
        )
