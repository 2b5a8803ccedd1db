"""IsoRank: boosted trees on isotonic updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.errors import LossError
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.isotonic import Isotonic
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["IsoRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class IsoRank(GradientTrained, Trees):
    r"""IsoRank: query-level learning to rank by isotonic regression.

    Each round finds, for every query, the least moves δ of the current scores h that satisfy all its preferences with
    margins (`plackett.losses.Isotonic`), fits a tree to them by least squares and takes a step
    :math:`h \leftarrow h + \eta\,\text{tree}(\delta)`. Learns from labels, or from the explicit preferences of a
    `RankingDataset`, contradictory ones included.

    Parameters
    ----------
    slack
        λ, the price of giving up a share of the margins of a query; infinity requires full margins. It must be
        positive: the equal scores at the start of training satisfy any order without margins.
    gain
        What margins are differences of: ``"linear"`` (the label), ``"exp2"`` or a table label: gain.
    ties
        λ₂, the price of the distance between documents of the same label; 0 does not constrain them.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = IsoRank(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.
    """

    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Real(0.02, 0.2, log=True),
        "num_leaves": Integer(4, 32, log=True),
        "slack": Real(0.1, 100.0, log=True),
    }

    n_estimators: int = 250
    num_leaves: int = 20
    slack: float = 10.0
    gain: Any = "linear"
    ties: float = 0.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        if not self.slack > 0:
            raise LossError(f"slack={self.slack}; give more than 0: equal scores satisfy an order without margins")
        return Isotonic(slack=self.slack, gain=self.gain, ties=self.ties)
