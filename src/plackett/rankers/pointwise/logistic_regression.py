"""Logistic regression of relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.pointwise.binary_logistic import BinaryLogistic
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained
from plackett.rankers.binary_labels import check_relevance
from plackett.solvers.monitor import Monitor

__all__ = ["LogisticRegression"]


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(GradientTrained, Linear):
    r"""Logistic regression: log-odds of relevance :math:`c + v \cdot x`, maximum likelihood with a penalty; rank by it.

    With an L2 penalty this is the maximum-entropy model of relevance.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> ranker = LogisticRegression().fit([[0.0], [1.0], [2.0], [1.5]], [0, 0, 1, 1], qid=[1, 1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Gey: Inferring probability of relevance using the method of logistic regression. SIGIR 1994.
    Nallapati: Discriminative models for information retrieval. SIGIR 2004 (maximum entropy).
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-2, 1e3, log=True)}  # the loss is a sum over documents

    rel: float = 1.0

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return BinaryLogistic(rel=self.rel)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        check_relevance(data, self.rel)
        super()._fit(data, monitor)

    def predict_proba(self, X: Any, *, qid: Any = None) -> np.ndarray:
        """Probability of irrelevance and of relevance, one row per document."""
        odds = self.predict(X, qid=qid)
        return np.stack([np.exp(-np.logaddexp(0.0, odds)), np.exp(-np.logaddexp(0.0, -odds))], axis=1)
