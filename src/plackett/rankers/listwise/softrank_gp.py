"""SoftRank with a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.softrank import SoftNDCG
from plackett.rankers.base import Ranker
from plackett.scorers.gaussian_process import GaussianProcessScorer, spread_points
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["SoftRankGP"]


@dataclass(kw_only=True, eq=False, repr=False)
class SoftRankGP(Ranker):
    r"""SoftRank with a Gaussian process: nDCG in expectation over the uncertainty of the process itself.

    The score of a document is normal with the predictive mean and variance of a Gaussian process with the covariance
    :math:`k(x, x') = e^{-\lVert x - x' \rVert^2 / 2 \ell^2}` (features standardised), given targets at some documents:

    .. math:: \bar f(x) = k(x)^\top (K + \nu I)^{-1} t, \qquad v(x) = 1 - k(x)^\top (K + \nu I)^{-1} k(x), \qquad
              P_{uj} = \Phi\Big(\frac{\bar f_u - \bar f_j}{\sqrt{v_u + v_j}}\Big)

    The targets t are learned: they maximise SoftRank's expected nDCG (`plackett.losses.SoftNDCG`, with the
    variances of the process instead of a common σ) minus a penalty. So documents far from all targets stay uncertain,
    and the ranking does not rely on them. Covariances between documents of a list are ignored.

    Suited to small data: a table of documents × points is kept in memory. If `n_points` is at least the number of
    distinct documents, the process is exact; otherwise the points are spread over the documents.

    Parameters
    ----------
    length_scale
        ℓ; None uses the square root of the number of features.
    noise
        ν, the variance of the targets.
    alpha
        Strength of the penalty α/2 · tᵀ(K + νI)⁻¹t.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.
    n_points
        Maximum number of documents with a target.
    max_exact
        Longest list with exact rank distributions; longer lists use an approximation.
    max_iter, tol
        Maximum number of L-BFGS iterations, and the gradient at which to stop.

    Examples
    --------
    >>> ranker = SoftRankGP().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[0.5], [1.5]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Guiver, Snelson: Learning to rank with SoftRank and Gaussian processes. SIGIR 2008.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"noise": Real(0.01, 1.0, log=True), "alpha": Real(1e-4, 1.0, log=True)}

    length_scale: float | None = None
    noise: float = 0.1
    alpha: float = 1e-3
    gain: Any = "exp2"
    n_points: int = 300
    max_exact: int = 100
    max_iter: int = 100
    tol: float = 1e-6

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        import scipy.linalg  # noqa: F401  # it brings a BLAS of its own, which has to be there to be limited
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "blas"):  # several threads add up in another order, and the last bits would change
            self._maximise(data, monitor)

    def _maximise(self, data: RankingDataset, monitor: Monitor) -> None:
        from scipy.linalg import solve_triangular

        empty = self._process(data)
        points = np.exp(-0.5 * _squares(empty.points) / empty.length_scale[0] ** 2)
        lower = np.linalg.cholesky(points + self.noise * np.eye(points.shape[0]))
        features = solve_triangular(lower, empty.kernel(data.X).T, lower=True).T  # scores are features @ weights
        spread = np.sqrt(np.maximum(1.0 - np.square(features).sum(axis=1), 1e-6))
        loss = NoisySoftNDCG(gain=self.gain, max_exact=self.max_exact, deviations=spread)
        bound = loss.bind(data, n_jobs=self.n_jobs)
        total = float(bound.query_weight.sum())

        def scorer(weights: np.ndarray) -> GaussianProcessScorer:
            heights = solve_triangular(lower, weights, lower=True, trans="T")
            return GaussianProcessScorer(empty.center, empty.spread, empty.points, heights, empty.length_scale)

        def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
            losses, gradient, _ = bound.evaluate(features @ weights)
            value = losses.sum() / total + 0.5 * self.alpha * weights @ weights
            return value, features.T @ gradient / total + self.alpha * weights

        def stop(weights: np.ndarray) -> bool:
            return monitor.keep(scorer(weights))

        start = np.zeros(features.shape[1])
        with monitor.training(self.max_iter, "SoftRankGP · L-BFGS"):
            quasi_newton(objective, start, stop, maxiter=self.max_iter, gtol=self.tol, ftol=self.tol * 1e-2)
        self.scorer_ = monitor.best or scorer(start)

    def _process(self, data: RankingDataset) -> GaussianProcessScorer:
        """The process before training."""
        if not (self.noise > 0 and self.n_points >= 1 and self.alpha >= 0):
            raise DataError(
                f"SoftRankGP: noise={self.noise}, n_points={self.n_points}, alpha={self.alpha}; "
                "give a positive noise, a point at least, and alpha of 0 or more"
            )
        number_or_none("SoftRankGP: length_scale", self.length_scale, above=0, most=np.inf)
        _, center, spread, points = spread_points(data.X, self.n_points)
        length = np.sqrt(data.n_features) if self.length_scale is None else self.length_scale
        return GaussianProcessScorer(center, spread, points, np.zeros(points.shape[0]), np.array([length], float))


@dataclass(frozen=True, kw_only=True, repr=False)
class NoisySoftNDCG(SoftNDCG):
    """SoftRank's loss with a standard deviation for each document."""

    name: ClassVar[str] = "SoftRankGP"

    deviations: np.ndarray

    def variance(self, data: RankingDataset) -> np.ndarray:
        """Variance of each document's score."""
        return np.square(self.deviations)


def _squares(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(points, points, "sqeuclidean")
