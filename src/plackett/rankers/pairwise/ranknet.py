"""RankNet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.losses.base import Loss
from plackett.losses.pairwise.logistic import Logistic
from plackett.models.neural import Neural
from plackett.rankers.base import GradientTrained

__all__ = ["RankNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankNet(GradientTrained, Neural):
    r"""RankNet: a two-layer network trained by the cross entropy of pairs, :math:`\log(1 + e^{-(s_u - s_v)})`.

    The gradient of all pairs of a query is summed per document first, so each document passes through the network only
    once. For a deeper or list-aware network, set ``architecture``. Needs the extra ``neural``.

    Parameters
    ----------
    learning_rate, weight_decay, max_epochs
        As in `Neural`, but with larger steps, kept in check by a strong decay: few queries make few steps per
        epoch, and at a rate of 0.001 the network hardly leaves its start. Chosen on validation queries of several
        small sets (see "Defaults on small data" in the guide to rankers).
    normalize
        Divide each query's loss by its number of pairs, so that long lists do not dominate.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.
    """

    _ids: ClassVar[tuple[str, ...]] = ("pairwise.ranknet",)
    paper: ClassVar[str] = "Burges et al. 2005"

    architecture: str = "sigmoid"
    learning_rate: float = 0.02
    weight_decay: float = 6.0
    max_epochs: int = 100
    normalize: bool = True

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Logistic(normalize=self.normalize)
