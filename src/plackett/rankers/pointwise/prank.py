"""PRank: a perceptron with thresholds between the grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.search_space import SearchSpace
from plackett.rankers.pointwise._perceptrons import OrdinalPerceptron

__all__ = ["PRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class PRank(OrdinalPerceptron):
    r"""PRank perceptron: a score w · x and thresholds :math:`b_1 \le \dots \le b_{K-1}` between K grades.

    The grade is the number of thresholds that the score reaches. If the grade is wrong, every threshold r that the
    score is on the wrong side of (:math:`y_r (w \cdot x - b_r) \le 0`, :math:`y_r = +1` where the grade is above r and
    −1 otherwise) moves towards the score, and the score towards it:

    .. math:: w \leftarrow w + \Big(\sum_r \tau_r\Big) x, \quad b_r \leftarrow b_r - \tau_r, \quad \tau_r \in \{y_r, 0\}

    Thresholds stay in order. If some unit vector (w, b) has every document on the right side of every threshold by at
    least γ, the ranks missed sum to at most :math:`(K - 1)(R^2 + 1)/\gamma^2`, with R the norm of the longest document.
    This is subgradient descent with steps of 1 on `plackett.losses.PRankLoss`. A pass visits the documents of all
    queries in random order; a document with twice the mean weight is visited twice.

    Attributes
    ----------
    thresholds_
        The thresholds.
    mistakes_
        Grades missed in each pass.
    rank_loss_
        By how many grades, summed over all passes.

    Examples
    --------
    >>> ranker = PRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2]), ranker.predict_label([[0.1], [9.0]])
    (array([2, 1]), array([0., 2.]))

    References
    ----------
    Crammer and Singer: Pranking with ranking. NIPS 2001.
    """

    search_space: ClassVar[SearchSpace] = {"margin": (0.0, 10.0, 100.0, 1000.0)}

    def _shape(self) -> tuple[int, float]:
        return 1, 1.0

    def _point(self, weights: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return weights[0].copy(), thresholds[0].copy()
