"""Gaussian processes for ordinal regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.rankers._laplace import LaplaceRanker
from plackett.rankers.pointwise._ordinal_svm import grades_of
from plackett.scorers.gaussian_posterior import GaussianPosterior
from plackett.solvers.intervals import Intervals

__all__ = ["GPOrdinal"]


@dataclass(kw_only=True, eq=False, repr=False)
class GPOrdinal(LaplaceRanker):
    r"""Gaussian process for ordinal regression: a latent score with normal noise, cut into grades by thresholds.

    .. math:: P(y = k \mid f) = \Phi\Big(\frac{b_k - f}{\sigma}\Big) - \Phi\Big(\frac{b_{k-1} - f}{\sigma}\Big), \qquad
              b_0 = -\infty,\ b_K = \infty

    The thresholds are learned by the evidence together with σ and the length-scales. Queries are pooled. The grades are
    the different labels that occur, at most 256; labels below 0 are unjudged and left out; with one grade all scores
    are 0. A document's weight (times its query's) is how often its label was observed.

    Examples
    --------
    >>> ranker = GPOrdinal().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], qid=[1, 1, 1, 1])
    >>> ranker.rank([[0.5], [2.5]], qid=[2, 2])
    array([2, 1])
    >>> ranker.predict_proba([[0.5]]).sum().round(6)
    np.float64(1.0)

    References
    ----------
    Chu, Ghahramani: Gaussian processes for ordinal regression. Journal of Machine Learning Research 6, 2005.
    """

    def observations(self, data: RankingDataset) -> tuple[np.ndarray, Any, Intervals, np.ndarray]:
        """Each judged document lies between the thresholds of its grade."""
        grades, grade, weight, rows = grades_of(data, "GPOrdinal")
        rows = np.arange(data.n_rows) if rows is None else rows
        return rows, None, Intervals(grade, grade + 1, weight, max(grades.size - 1, 0)), grades

    def predict_proba(self, X: Any) -> np.ndarray:
        r"""Probability of each grade: a row per document, a column per grade from small to large.

        The latent value is normal with the posterior's mean μ and variance v, so that
        :math:`P(y \le k) = \Phi((b_k - \mu) / \sqrt{\sigma^2 + v})`.
        """
        from scipy.special import ndtr

        rows = self.rows(X)
        posterior = self.scorer_
        if not isinstance(posterior, GaussianPosterior) or posterior.grades.size == 0:
            raise DataError("GPOrdinal was fitted without judged labels, so it has no grades")
        width = np.sqrt(posterior.noise[0] ** 2 + posterior.variance(rows.data.X))
        below = ndtr((posterior.thresholds - self.score_rows(rows.data)[:, None]) / width[:, None])
        n = below.shape[0]
        probability = np.diff(np.hstack([np.zeros((n, 1)), below, np.ones((n, 1))]), axis=1)
        return probability[rows.data.from_input_order(np.arange(n)).argsort()] if rows.caller_order else probability
