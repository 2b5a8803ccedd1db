"""Base class of the losses of associates, which risks are the means of."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.associates import ASSOCIATES, Associates


class AssociateLoss:
    """A loss of documents, pairs or lists; `sums` gives its sum over the associates of each query."""

    #: ``"document"``, ``"pair"`` or ``"list"``.
    associate: str
    #: Largest value of one associate; None is unbounded.
    largest: float | None = None

    @property
    def associates(self) -> Associates:
        """What the loss is summed over."""
        return ASSOCIATES[self.associate]

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """Sum over the labelled associates of each query, weights of the data left out."""
        raise NotImplementedError
