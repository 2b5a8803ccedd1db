"""MPRank: magnitude-preserving linear ranking."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pairwise.magnitude_preserving import MagnitudePreserving
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["MPRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class MPRank(GradientTrained, Linear):
    r"""MPRank: a linear model whose scores should differ by as much as the labels,
    :math:`\sum |s_u - s_v - (y_u - y_v)|^\beta`.

    For β = 2 it is least squares up to a constant per query (`plackett.losses.MagnitudePreserving`), and takes no more
    time than that. On trees it is `MPBoost`.

    Parameters
    ----------
    beta
        Power β of the deviations, at least 1.
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.

    Examples
    --------
    >>> ranker = MPRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cortes, Mohri, Rastogi: Magnitude-preserving ranking algorithms. ICML 2007.
    """

    beta: float = 2.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return MagnitudePreserving(beta=self.beta, normalize=self.normalize)
