"""Shared base of the Gaussian-process rankers: inducing points, hyper-parameters by evidence, and the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.errors import DataError
from plackett._base.search_space import Integer, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.scorers.gaussian_posterior import GaussianPosterior
from plackett.scorers.gaussian_process import spread_points
from plackett.solvers.intervals import Intervals
from plackett.solvers.laplace import LaplaceFit, LaplaceProcess
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton


@dataclass(kw_only=True, eq=False, repr=False)
class LaplaceRanker(Ranker):
    r"""A Gaussian process over documents, approximated by Laplace's method; scores are its predictive mean.

    The covariance is :math:`k(x, x') = \exp(-\tfrac12 \sum_j (x_j - x'_j)^2 / \ell_j^2)`, features standardised. The
    length-scales and the noise σ maximise the evidence

    .. math:: \log p(y \mid \hat f) - \tfrac12 \hat f^\top K^{-1} \hat f - \tfrac12 \log |I + K W|

    found by L-BFGS with its exact gradient; :math:`\hat f` is the mode and W the curvature of the observations there.
    If `n_points` is at least the number of distinct documents, the process is exact and a step takes O(n³) time. With
    fewer, it is defined at m points spread over the documents, in O(n m²) time and O(n m) memory.

    Parameters
    ----------
    length_scale
        Initial ℓ; None uses the square root of the number of features.
    noise
        σ; None learns it.
    ard
        Learn a length-scale for each feature (automatic relevance determination).
    optimize
        Learn the hyper-parameters; otherwise they keep their initial values.
    n_points
        Maximum number of points at which the process is defined.
    max_iter, tol
        Maximum number of L-BFGS iterations, and the gradient of the evidence per observation at which to stop.

    Attributes
    ----------
    length_scale_, noise_, log_evidence_
        The learned length-scale and noise, and the logarithm of the evidence.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"n_points": Integer(50, 400, log=True)}
    _test_settings: ClassVar[dict[str, Any]] = {"max_iter": 4, "n_points": 50}

    length_scale: float | None = None
    noise: float | None = None
    ard: bool = False
    optimize: bool = True
    n_points: int = 100
    max_iter: int = 15
    tol: float = 1e-5

    def observations(self, data: RankingDataset) -> tuple[np.ndarray, Any, Intervals, np.ndarray]:
        """The observed rows, the matrix that maps them to observations, the observations, and the grades."""
        raise NotImplementedError

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """The first round is the process before any step."""
        return {"max_iter": rounds - 1}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        name = type(self).__name__
        for field in ("length_scale", "noise"):
            given = getattr(self, field)
            number_or_none(f"{name}: {field}", given, above=0, most=np.inf)
        if self.n_points < 1 or self.max_iter < 0:
            raise DataError(f"{name}: n_points={self.n_points}, max_iter={self.max_iter}; both must be 1 or more")
        rows, observed, intervals, grades = self.observations(data)
        table, center, spread, points = spread_points(data.X, self.n_points)
        process = LaplaceProcess((table[rows] - center) / spread, points, observed, intervals, self.ard)
        scales = process.n_scales
        start, limits = process.start(self.length_scale or np.sqrt(data.n_features)), process.limits()
        if self.noise is not None:
            start[scales] = np.log(self.noise)
            limits[scales] = (float(start[scales]), float(start[scales]))
        total = max(float(intervals.weight.sum()), 1e-300)
        last: dict[bytes, LaplaceFit] = {}  # the callback comes with parameters that were just looked at

        def fitted(parameters: np.ndarray) -> LaplaceFit:
            key = parameters.tobytes()
            if key not in last:
                fit = process.fit(parameters)
                last.clear()
                last[key] = fit
            return last[key]

        def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            return fitted(parameters).value / total, fitted(parameters).gradient / total

        def note(parameters: np.ndarray) -> bool:
            fit = fitted(parameters)
            length, rest = np.exp(parameters[:scales]), parameters[scales:]
            bounds = intervals.bounds(rest)
            scorer = GaussianPosterior(
                center, spread * length, points / length, fit.heights, np.ones(1), fit.shrink, np.exp(rest[:1]), bounds,
                grades,
            )  # fmt: skip
            stop = monitor.keep(scorer)
            if monitor.best is scorer:
                self.scorer_ = scorer
                self.length_scale_, self.noise_, self.log_evidence_ = length, float(np.exp(rest[0])), -fit.value
            return stop

        with monitor.training(self.max_iter + 1, name):
            start = np.clip(start, [low for low, _ in limits], [high for _, high in limits])
            if not note(start) and self.optimize and self.max_iter > 0:
                tolerances = {"gtol": self.tol, "ftol": self.tol * 1e-3}
                quasi_newton(objective, start, note, bounds=limits, maxiter=self.max_iter, **tolerances)
