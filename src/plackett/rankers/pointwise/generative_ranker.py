"""A generative model of documents by grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.losses.base import finite_gains
from plackett.measures.gains import check_gain
from plackett.rankers.base import Ranker
from plackett.scorers.gaussian_classes import GaussianClassesScorer
from plackett.solvers.monitor import Monitor

__all__ = ["GenerativeRanker"]

_COVARIANCES = ("full", "shared", "diagonal")
#: Largest number of distinct labels; each is a grade with its own density.
_MOST_GRADES = 50
_ROWS = 65_536


@dataclass(kw_only=True, eq=False, repr=False)
class GenerativeRanker(Ranker):
    r"""A Gaussian density of the features for each grade; documents are ranked by their expected gain,

    .. math:: s(x) = \sum_y \mathrm{gain}(y)\, P(y \mid x), \qquad
              P(y \mid x) = \frac{\pi_y\, \mathcal N(x; \mu_y, \Sigma_y)}
              {\sum_z \pi_z\, \mathcal N(x; \mu_z, \Sigma_z)}.

    Training is one pass: the moments of each grade are sums over its documents. With two grades and one covariance the
    order is that of linear discriminant analysis; with diagonal covariances it is naive Bayes. The model learns from
    few labels and also tells how likely a document itself is, but it is only as good as its densities: transform skewed
    features (counts, lengths) first.

    Parameters
    ----------
    covariance
        ``"full"`` (one for each grade), ``"shared"`` (one for all) or ``"diagonal"`` (features are independent within a
        grade).
    shrinkage
        How much of each covariance is replaced by its diagonal, from 0 to 1.
    gain
        Gain of a label: ``"exp2"``, ``"linear"`` or a table, as in nDCG.

    Attributes
    ----------
    grades_, priors_
        The labels, and the share of documents of each.

    Examples
    --------
    >>> ranker = GenerativeRanker().fit([[0.0], [1.0], [2.0], [0.5], [2.5]], [0, 1, 2, 0, 2], qid=[1, 1, 1, 2, 2])
    >>> ranker.rank([[0.1], [2.2]], qid=[3, 3])
    array([2, 1])

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.4.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {
        "shrinkage": Real(0.01, 1.0, log=True),
        "covariance": ("full", "shared", "diagonal"),
    }
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"covariance": "shared"}, {"covariance": "diagonal"})

    covariance: str = "full"
    shrinkage: float = 0.1
    gain: Any = "exp2"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        choice("covariance", self.covariance, _COVARIANCES)
        number("shrinkage", self.shrinkage, least=0.0, most=1.0)
        weight = np.where(data.labels >= 0, data.row_weight, 0.0)
        labels = np.where(weight > 0, data.labels, -1.0)
        grades = np.unique(labels[labels >= 0])
        if grades.size > _MOST_GRADES:
            raise DataError(
                f"there are {grades.size} different labels; GenerativeRanker needs grades, {_MOST_GRADES} at most"
            )
        if grades.size == 0:  # nothing is judged
            grades, labels, weight = np.zeros(1), np.zeros(data.n_rows), data.row_weight
        name = type(self).__name__
        gains = finite_gains(grades, check_gain(self.gain, name), name)
        with monitor.training(1, type(self).__name__):
            self.scorer_ = self._densities(data, labels, weight, grades, gains)
            self.grades_, self.priors_ = grades, np.exp(self._log_priors)
            del self._log_priors
            monitor.keep(self.scorer_)

    def _densities(
        self, data: RankingDataset, labels: np.ndarray, weight: np.ndarray, grades: np.ndarray, gains: np.ndarray
    ) -> GaussianClassesScorer:
        d, n = data.n_features, grades.size
        mass, means, squares = np.zeros(n), np.zeros((n, d)), np.zeros((n, d, d))
        centre = np.zeros(d)
        for second in (False, True):  # means first: squares around them lose no digits
            for start in range(0, data.n_rows, _ROWS):
                rows = slice(start, start + _ROWS)
                X = dense(data.X[rows]).astype(np.float64)
                for y, grade in enumerate(grades):
                    of_grade = labels[rows] == grade
                    part, w = X[of_grade], weight[rows][of_grade]
                    if second:
                        part = part - means[y]
                        squares[y] += (part * w[:, None]).T @ part
                    else:
                        mass[y] += w.sum()
                        means[y] += w @ part
            if not second:
                centre = means.sum(axis=0) / mass.sum()
                means /= mass[:, None]
        total = squares.sum(axis=0) / mass.sum()
        between = (mass[:, None] * (means - centre) ** 2).sum(axis=0) / mass.sum()
        floor = 1e-3 * (np.diag(total) + between)
        floor = np.where(floor > 1e-10 * centre**2, floor, 1.0)  # a constant feature says nothing
        roots, constants = np.empty_like(squares), np.empty(n)
        self._log_priors = np.log(mass / mass.sum())
        for y in range(n):
            # a grade of few documents borrows from the covariance of all
            own = total if self.covariance == "shared" else (squares[y] + (d + 1) * total) / (mass[y] + d + 1)
            kept = 0.0 if self.covariance == "diagonal" else 1.0 - self.shrinkage
            matrix = kept * own + (1.0 - kept) * np.diag(np.diag(own)) + np.diag(floor)
            factor = np.linalg.cholesky(matrix)
            roots[y] = np.linalg.solve(factor, np.eye(d))  # lower triangular
            constants[y] = self._log_priors[y] - np.log(np.diag(factor)).sum()
        return GaussianClassesScorer(roots, means, constants, gains)
