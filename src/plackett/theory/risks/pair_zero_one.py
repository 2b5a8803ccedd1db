"""The pairwise 0–1 loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.measures.pairs import pair_counts, preference_counts
from plackett.measures.ranking import Scored
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.conventions import tie_cost

__all__ = ["PairZeroOne"]

#: The tie rule of measures that has the same cost.
_RULES = {"none": "optimistic", "half": "expected", "loss": "pessimistic"}


@dataclass(frozen=True)
class PairZeroOne(AssociateLoss):
    """1 for each pair of unequal labels, or preference, that the scores contradict; counted in n log n.

    Parameters
    ----------
    tie
        What a pair of equal scores costs: ``"none"`` 0, ``"half"`` ½, ``"loss"`` 1.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 17.2.1.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0])
    >>> PairZeroOne("half").sums(np.array([1.0, 1.0, 2.0]), data).tolist()
    [2.5]
    """

    tie: str = "none"
    associate = "pair"
    largest = 1.0

    def __post_init__(self) -> None:
        tie_cost(self.tie)

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """Number of wrong pairs of each query."""
        scored = Scored(data, scores)
        if data.preferences is not None:
            return preference_counts(scored, _RULES[self.tie])[1]
        _, wrong, tied, _ = pair_counts(scored.ranking("expected")).T
        return wrong + tie_cost(self.tie) * tied
