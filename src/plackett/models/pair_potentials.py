"""Linear scores plus comparisons with the other documents of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale
from plackett.losses.base import Loss
from plackett.scorers.base import Scorer
from plackett.scorers.pair_potentials import PairPotentialScorer, mean_comparisons, pull_back_comparisons
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["PairPotentials"]


@dataclass(kw_only=True, eq=False)
class PairPotentials:
    r"""A potential of each document and one of each pair of documents of a list,

    .. math:: s_j = \varphi(x_j) + \frac{1}{m - 1} \sum_{k \ne j} \psi(x_j, x_k), \qquad \varphi(x) = w \cdot x, \quad
              \psi(x, z) = \sum_{h=1}^{H} u_h \tanh(a_h \cdot x + b_h \cdot z + c_h)

    so the score of a document depends on the other documents of its list. This is the model of BoltzRank, with the mean
    over the other documents instead of their sum, since lists differ in length. All weights except c have the penalty
    :math:`\frac{\alpha}{2} \lVert \cdot \rVert^2`. Training is by L-BFGS and starts at u = 0, the linear model; the
    objective is not convex, and a, b start at random. Time grows with the square of the lists' lengths times H.

    Parameters
    ----------
    units
        H, the number of comparisons.
    alpha
        Strength of the penalty.
    max_iter, tol
        Maximum number of iterations, and the relative change of the objective at which to stop.
    standardize
        Divide each feature by its standard deviation while training. The resulting weights apply to the original
        features.

    References
    ----------
    Volkovs, Zemel: BoltzRank: learning to maximize expected ranking gain. ICML 2009.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "units": Integer(1, 16, log=True)}

    units: int = 4
    alpha: float = 1e-3
    max_iter: int = 300
    tol: float = 1e-6
    standardize: bool = True
    random_state: int | None = 0
    n_jobs: int | None = None

    def train(
        self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None
    ) -> PairPotentialScorer:
        """Minimise the loss on the data."""
        if not (self.units >= 1 and 0.0 <= self.alpha < np.inf):
            raise LossError(f"units={self.units}, alpha={self.alpha}; give 1 or more units, and a penalty of 0 or more")
        if not (loss.has_value and loss.smooth):
            raise LossError(f"pair potentials need a smooth loss with a value, which {loss} is not")
        problem = _Problem(self, loss, data)
        first = problem.start(start)
        monitor.consider(start, problem.loss)

        def stop(flat: np.ndarray) -> bool:
            return monitor.keep(problem.scorer(flat))

        options = {"maxiter": self.max_iter, "ftol": self.tol * 1e-2, "gtol": self.tol, "maxls": 40}
        with monitor.training(self.max_iter, f"{problem.loss.name} · pair potentials"):
            quasi_newton(problem.objective, first, stop, **options)
        return monitor.best or problem.scorer(first)


class _Problem:
    """The objective over the weights of the scaled features, in one flat array."""

    def __init__(self, model: PairPotentials, loss: Loss, data: RankingDataset) -> None:
        self.model, self.loss, self.data = model, loss.settle(data), data
        self.bound = self.loss.bind(data, n_jobs=model.n_jobs)
        if self.bound.n_outputs != 1:
            raise LossError(f"pair potentials have one score per document, and {loss.name} needs several")
        self.total = max(float(self.bound.query_weight.sum()), np.finfo(float).tiny)
        d, h = data.n_features, model.units
        self.scale = feature_scale(data.X, data.row_weight, model.standardize)
        self.ends = np.cumsum([d, d * h, d * h, h, h])
        self.penalty = np.full(self.ends[-1], model.alpha)
        self.penalty[self.ends[2] : self.ends[3]] = 0.0  # the shifts

    def parts(self, flat: np.ndarray) -> tuple[np.ndarray, ...]:
        """w, a, b, c and u."""
        d, h = self.data.n_features, self.model.units
        w, here, there, shift, height = np.split(flat, self.ends[:-1])
        return w, here.reshape(d, h), there.reshape(d, h), shift, height

    def start(self, scorer: Scorer | None) -> np.ndarray:
        """The initial weights: those of another fit, or random comparisons with weight 0."""
        if scorer is None:
            rng = np.random.default_rng(self.model.random_state)
            flat = np.zeros(self.ends[-1])
            flat[self.ends[0] : self.ends[2]] = rng.normal(size=self.ends[2] - self.ends[0])
            flat[self.ends[0] : self.ends[2]] /= np.sqrt(2.0 * self.data.n_features)
            return flat
        if not isinstance(scorer, PairPotentialScorer) or scorer.here.shape != (self.data.n_features, self.model.units):
            raise LossError("pair potentials can only start from pair potentials with the same features and units")
        scale = self.scale[:, None]
        tables = scorer.weights * self.scale, scorer.here * scale, scorer.there * scale, scorer.shift, scorer.height
        return np.concatenate([table.ravel() for table in tables])

    def scorer(self, flat: np.ndarray) -> PairPotentialScorer:
        w, here, there, shift, height = self.parts(flat)
        scale = self.scale[:, None]
        return PairPotentialScorer(w / self.scale, here / scale, there / scale, shift.copy(), height.copy())

    def objective(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean loss plus penalty, and its gradient."""
        X, offsets, n_jobs, scale = self.data.X, self.data.offsets, self.model.n_jobs, self.scale[:, None]
        w, here, there, shift, height = self.parts(flat)
        left, right = table_times(X, here / scale, n_jobs) + shift, table_times(X, there / scale, n_jobs)
        compared = mean_comparisons(left, right, offsets, n_jobs)
        scores = table_times(X, w[:, None] / scale, n_jobs)[:, 0] + compared @ height
        losses, gradient, _ = self.bound.evaluate(scores)
        d_left, d_right = pull_back_comparisons(left, right, offsets, gradient[:, None] * height, n_jobs)
        slope = np.concatenate(
            [
                (transposed_times(X, gradient[:, None], n_jobs) / scale).ravel(),
                (transposed_times(X, d_left, n_jobs) / scale).ravel(),
                (transposed_times(X, d_right, n_jobs) / scale).ravel(),
                d_left.sum(axis=0),
                compared.T @ gradient,
            ]
        )
        value = float(losses.sum()) / self.total + 0.5 * float(self.penalty @ flat**2)
        return value, slope / self.total + self.penalty * flat
