"""The pointwise 0–1 loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.associate_loss import AssociateLoss

__all__ = ["DocumentZeroOne"]


@dataclass(frozen=True)
class DocumentZeroOne(AssociateLoss):
    """1 for each judged document on the wrong side of a threshold; a score at the threshold is on the upper side.

    Parameters
    ----------
    rel
        Least label of a relevant document.
    threshold
        Least score of a document that is taken for relevant.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 15.3.3.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0])
    >>> DocumentZeroOne().sums(np.array([-1.0, 0.0, -2.0]), data).tolist()
    [2.0]
    """

    rel: float = 1.0
    threshold: float = 0.0
    associate = "document"
    largest = 1.0

    def __post_init__(self) -> None:
        number("rel", self.rel)
        number("threshold", self.threshold)

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """Number of misclassified documents of each query."""
        high = row_scores(data, scores) >= self.threshold
        wrong = (data.labels >= 0) & ((data.labels >= self.rel) != high)
        return np.bincount(data.query_of_row, wrong, data.n_queries)
