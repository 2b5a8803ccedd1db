"""Lists on which a structural SVM prefers the worse model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset

__all__ = ["structural_map_loss", "svm_disagreement"]


def structural_map_loss(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Loss of SVM-MAP for each list: the largest 1 − AP plus violation of any ranking.

    >>> data = RankingDataset.from_arrays(None, [0, 1, 1])
    >>> structural_map_loss(np.array([3.0, 2.0, 1.0]), data).round(4).tolist()
    [3.4167]

    References
    ----------
    Yue, Finley, Radlinski, Joachims: A support vector method for optimizing average precision. SIGIR 2007.
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.
    """
    from plackett.rankers.listwise.structural import TrainingLists
    from plackett.rankers.listwise.svm_map import ap_violations

    scores = row_scores(data, scores)
    error, slope = ap_violations(TrainingLists.of(data), 1.0, None)(scores)
    return error + np.bincount(data.query_of_row, slope * scores, data.n_queries)


class SVMDisagreement(NamedTuple):
    """A list with two features, each of them a model; the AP and the loss of both."""

    data: RankingDataset
    precision: tuple[float, float]
    loss: tuple[float, float]

    @property
    def disagreement(self) -> float:
        """How much better, in AP, the model with the larger loss is."""
        return self.precision[1] - self.precision[0]


def svm_disagreement(n_relevant: int = 20, n_others: int = 2000) -> SVMDisagreement:
    """Theorem 5.6, by construction: for any Δ < 1 a list on which SVM-MAP prefers a model that is Δ worse in AP.

    The first model puts all relevant documents just below all others: almost the smallest AP, with a loss not much
    above 1. The second puts all relevant documents but one on top, and that one next, but far below a single other
    document: AP near 1, and an arbitrarily large loss.

    >>> example = svm_disagreement()
    >>> [round(v, 3) for v in example.precision], example.loss[0] < 1 < example.loss[1]
    ([0.005, 0.998], True)

    References
    ----------
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.
    """
    number("n_relevant", n_relevant, least=2)
    number("n_others", n_others, least=2)
    y = np.repeat([1.0, 0.0], [n_relevant, n_others])
    worse = np.where(y > 0, -1e-6, 0.0)
    better = np.full(y.size, -3e5)
    better[: n_relevant - 1] = 1.0
    better[n_relevant] = 0.0  # one of the others
    better[n_relevant - 1] = -1e5
    data = RankingDataset.from_arrays(np.stack([worse, better], axis=1), y, np.zeros(y.size, np.int64))
    columns = np.asarray(data.X, np.float64).T

    from plackett.measures.ap import AP
    from plackett.measures.ranking import Scored

    precision = [float(AP(ties="pessimistic").per_query(Scored(data, s))[0]) for s in columns]
    loss = [float(structural_map_loss(s, data)[0]) for s in columns]
    return SVMDisagreement(data, (precision[0], precision[1]), (loss[0], loss[1]))
