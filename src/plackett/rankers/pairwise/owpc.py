"""OWPC: ordered weighted pairwise classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.losses.base import Loss
from plackett.losses.pairwise.owa import OWA
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["OWPC"]


@dataclass(kw_only=True, eq=False, repr=False)
class OWPC(GradientTrained, Linear):
    r"""OWPC: a linear model that minimises ordered weighted averages of hinge pair losses (`plackett.losses.OWA`).

    Each document is compared with all that should rank below it. Its losses are sorted, and the largest ones, caused by
    documents at the top of the list, get the most weight. Trained by stochastic steps over batches of queries.

    Parameters
    ----------
    weights
        ``"harmonic"``, ``"uniform"`` (the mean) or a tuple of non-increasing numbers; ``(1,)`` uses only the largest
        loss.
    margin
        Margin by which the better document should lead.
    normalize
        Divide each query's loss by its number of documents with worse ones, so that long lists do not dominate.

    Examples
    --------
    >>> ranker = OWPC().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Usunier, Buffoni, Gallinari: Ranking with ordered weighted pairwise classification. ICML 2009.
    """

    max_iter: int = 60
    weights: Any = "harmonic"
    margin: float = 1.0
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return OWA(weights=self.weights, margin=self.margin, normalize=self.normalize)
