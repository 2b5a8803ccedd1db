"""McRank: boosted multi-class classification, ranked by the expected grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.losses.base import Loss
from plackett.losses.pointwise.softmax import Softmax
from plackett.models.trees import Trees
from plackett.rankers.base import GradientTrained

__all__ = ["McRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class McRank(GradientTrained, Trees):
    r"""McRank: one ensemble of trees per grade, softmax over grades, ranked by :math:`\sum_k k\,P(y = k)`.

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

    ids: ClassVar[tuple[str, ...]] = ("pointwise.mcrank",)
    paper: ClassVar[str] = "Li, Burges, Wu 2007"

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Softmax()

    def predict_proba(self, X: object, *, qid: object = None) -> np.ndarray:
        """Probability of each grade."""
        from plackett.rankers.inputs import rows_to_score

        self._check_fitted()
        rows = rows_to_score(X, qid)
        self._check_features(rows.data)
        scores = self.scorer_.predict(rows.data.X, rows.data.offsets, self.n_jobs)
        power = np.exp(scores - scores.max(axis=1, keepdims=True))
        return rows.give_back(power / power.sum(axis=1, keepdims=True))
