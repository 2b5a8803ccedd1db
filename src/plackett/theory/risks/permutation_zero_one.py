"""Whole lists that are right or wrong: the permutation-level 0–1 loss and its top-k version."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.arguments import number
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored
from plackett.theory.risks.associate_loss import AssociateLoss

__all__ = ["PermutationZeroOne", "TopKZeroOne"]


@dataclass(frozen=True)
class TopKZeroOne(AssociateLoss):
    """1 for each list whose first k documents are not a beginning, in order, of a perfect ranking.

    With distinct labels there is one perfect ranking, and this is the top-k true loss; if labels tie, any perfect
    ranking counts. Tied scores of documents with different labels are an error.

    References
    ----------
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.

    Examples
    --------
    The first two are right, the others are not:

    >>> data = RankingDataset.from_arrays(None, [3, 2, 1, 0])
    >>> scores = np.array([4.0, 3.0, 1.0, 2.0])
    >>> TopKZeroOne(2).sums(scores, data).tolist(), TopKZeroOne(3).sums(scores, data).tolist()
    ([0.0], [1.0])
    """

    k: int
    associate = "list"
    largest = 1.0

    def __post_init__(self) -> None:
        number("k", self.k, least=1)

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """1 for each query whose top is wrong."""
        ranking = Scored(data, scores).ranking("pessimistic")
        out = np.empty(data.n_queries)
        over_queries(_top_differs, data.offsets, ranking.labels, data.sorted_labels, self.k, out)
        return out


@dataclass(frozen=True)
class PermutationZeroOne(AssociateLoss):
    """1 for each list that is not ranked perfectly, 0 for the others; a score tie across labels is an error.

    >>> data = RankingDataset.from_arrays(None, [2, 1, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> PermutationZeroOne().sums(np.array([3.0, 1.0, 2.0, 1.0, 0.0]), data).tolist()
    [1.0, 0.0]

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    """

    associate = "list"
    largest = 1.0

    def sums(self, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        """1 for each query that is not ranked perfectly."""
        return TopKZeroOne(int(data.group.max(initial=1))).sums(scores, data)


@kernel
def _top_differs(lo, hi, offsets, labels, ideal, k, out):
    for q in range(lo, hi):
        out[q] = 0.0
        for i in range(offsets[q], min(offsets[q] + k, offsets[q + 1])):
            if labels[i] != ideal[i]:
                out[q] = 1.0
                break
