"""YetiRank on trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.yetirank import YetiRankLoss
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["YetiRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class YetiRank(GradientTrained, Trees):
    """YetiRank: gradient-boosted trees on pairs of neighbours in noisy orders (`plackett.losses.YetiRankLoss`).

    Each round sorts the documents several times by their scores plus noise. Neighbours of unequal labels push each
    other as in RankNet, with more weight near the top, or by the change in a measure.

    Parameters
    ----------
    measure
        None weighs by rank and difference of labels, as the paper does; or any measure with a swap delta.
    decay
        Factor by which the weight decreases per rank in that form.
    n_permutations
        Number of noisy orders in a round.
    n_neighbors
        Documents count as neighbours up to this many ranks apart.
    noise
        Scale of the noise.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = YetiRank(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Gulin, Kuralenok, Pavlov: Winning the transfer learning track of Yahoo!'s learning to rank challenge with YetiRank.
    JMLR W&CP 2011.
    """

    search_space: ClassVar[SearchSpace] = {**Trees.search_space, "measure": (None, "nDCG")}

    measure: Any = None
    decay: float = 0.85
    n_permutations: int = 10
    n_neighbors: int = 1
    noise: float = 1.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return YetiRankLoss(
            measure=self.measure,
            decay=self.decay,
            n_permutations=self.n_permutations,
            n_neighbors=self.n_neighbors,
            noise=self.noise,
            random_state=self.random_state or 0,
        )
