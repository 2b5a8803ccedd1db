"""McRank: boosted multi-class classification, ranked by the expected grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.losses.pointwise.cumulative import Cumulative
from plackett.losses.pointwise.softmax import Softmax
from plackett.models.trees.model import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["McRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class McRank(GradientTrained, Trees):
    r"""McRank: one ensemble of trees per grade, softmax over grades, ranked by :math:`\sum_k g(k)\,P(y = k)`.

    Parameters
    ----------
    gain
        Value g of a grade: ``"linear"``, ``"exp2"`` or a table label: gain.
    ordinal
        Predict for each grade but the first whether a document has at least that grade (`plackett.losses.Cumulative`),
        instead of which grade it has.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = McRank(n_estimators=10).fit(X, [i % 10 // 4 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0], [5.0]], qid=[0, 0, 0])
    array([3, 1, 2])

    References
    ----------
    Li, Burges, Wu: McRank: learning to rank using multiple classification and gradient boosting. NIPS 2007.
    """

    gain: Any = "linear"
    ordinal: bool = False

    def make_loss(self) -> Softmax | Cumulative:
        """The loss to minimise."""
        return (Cumulative if self.ordinal else Softmax)(gain=self.gain)

    def predict_proba(self, X: object, *, qid: object = None) -> np.ndarray:
        """Probability of each grade."""
        rows = self.rows(X, qid)
        scores = self.scorer_.model.predict(rows.data.X, rows.data.offsets, self.n_jobs)
        return rows.give_back(self.make_loss().probabilities(scores))
