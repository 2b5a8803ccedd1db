"""MPBoost: magnitude-preserving boosted trees."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.losses.base import Loss
from plackett.losses.pairwise.magnitude_preserving import MagnitudePreserving
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["MPBoost"]


@dataclass(kw_only=True, eq=False, repr=False)
class MPBoost(GradientTrained, Trees):
    r"""MPBoost: boosted trees whose scores should differ by as much as the labels,
    :math:`\sum |s_u - s_v - (y_u - y_v)|^\beta`.

    For β = 2 it is least squares up to a constant per query (`plackett.losses.MagnitudePreserving`), and takes no more
    time than that. Its linear form is `MPRank`.

    Parameters
    ----------
    beta
        Power β of the deviations, at least 1.
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = MPBoost(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
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
