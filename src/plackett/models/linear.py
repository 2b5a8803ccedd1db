"""Linear scoring: one weight per feature. An intercept does not change a ranking, so none is needed to rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.models.batches import query_batches
from plackett.models.search_space import Real, SearchSpace
from plackett.scorers._products import table_times, transposed_times
from plackett.scorers.base import Scorer
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor

__all__ = ["Linear", "deviation", "lbfgs", "moments", "spread"]

_SPREAD_ROWS = 4096


@dataclass(kw_only=True, eq=False)
class Linear:
    r"""Linear model, trained by minimising

    .. math:: \frac{1}{\sum_q w_q} \sum_q w_q L_q(X v) + \alpha \Big( \rho \lVert v \rVert_1
              + \frac{1 - \rho}{2} \lVert v \rVert_2^2 \Big)

    over the weights of the standardised features. Losses that are not invariant to a constant shift of the scores (the
    pointwise ones) get an intercept, which is not penalised.

    Parameters
    ----------
    alpha, l1_ratio
        Strength α of the penalty and the share ρ of its L1 part.
    solver
        ``"lbfgs"`` for smooth losses with a value, ``"sgd"`` (AdaGrad over batches of queries, averaged) for any;
        ``"auto"`` uses the first that applies.
    max_iter, tol
        Maximum number of iterations (epochs for ``sgd``), and the relative change of the objective at which to stop.
    learning_rate, batch_size
        For ``sgd``: step size, and queries per step.
    standardize
        Divide each feature by its standard deviation while training, so that one penalty fits all. The resulting
        weights apply to the original features.
    warm_start
        Continue from the weights of the last ``fit``.
    """

    _ids: ClassVar[tuple[str, ...]] = ()
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}

    alpha: float = 1e-4
    l1_ratio: float = 0.0
    solver: str = "auto"
    max_iter: int = 300
    tol: float = 1e-6
    learning_rate: float = 0.5
    batch_size: int = 32
    standardize: bool = True
    warm_start: bool = False
    random_state: int | None = 0
    n_jobs: int | None = None

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> LinearScorer:
        """Minimise the loss on the data."""
        if not (0.0 <= self.alpha < np.inf and 0.0 <= self.l1_ratio <= 1.0):
            raise LossError(f"alpha={self.alpha}, l1_ratio={self.l1_ratio}; give 0 or more, and a share from 0 to 1")
        fits = loss.has_value and loss.smooth
        solver = self.solver if self.solver != "auto" else ("lbfgs" if fits else "sgd")
        if solver not in _SOLVERS:
            raise LossError(f"solver={self.solver!r}; the solvers are auto, {', '.join(_SOLVERS)}")
        if solver == "lbfgs" and not fits:
            reason = "is not smooth" if loss.has_value else "has no value, only a gradient"
            raise LossError(f"solver='lbfgs' cannot minimise {loss}: it {reason}; use solver='sgd'")
        problem = _Problem(self, loss, data)
        first = problem.start(start)
        monitor.consider(start, problem.loss)
        return problem.scorer(_SOLVERS[solver](problem, first, monitor))


class _Problem:
    """The objective over scaled weights (features × outputs), the last row the intercept where there is one."""

    def __init__(self, model: Linear, loss: Loss, data: RankingDataset) -> None:
        self.model, self.loss, self.data = model, loss.settle(data), data
        self.bound = self.loss.bind(data, n_jobs=model.n_jobs)
        self.total = max(float(self.bound.query_weight.sum()), np.finfo(float).tiny)
        self.scale = np.ones(data.n_features)
        if model.standardize:
            weight = data.row_weight
            self.scale = spread(data.X, weight, model.n_jobs)
        self.intercept = not loss.shift_invariant
        self.shape = (data.n_features + self.intercept, self.bound.n_outputs)

    def start(self, scorer: Scorer | None) -> np.ndarray:
        weights = np.zeros(self.shape)
        if scorer is not None:
            if not isinstance(scorer, LinearScorer) or scorer.weights.shape != (self.data.n_features, self.shape[1]):
                raise LossError("a linear model can only start from a linear model with the same features and outputs")
            weights[: self.data.n_features] = scorer.weights * self.scale[:, None]
            if self.intercept:
                weights[-1] = scorer.intercept
        return weights

    def scorer(self, weights: np.ndarray) -> LinearScorer:
        intercept = weights[-1] if self.intercept else np.zeros(self.shape[1])
        return LinearScorer(weights[: self.data.n_features] / self.scale[:, None], np.array(intercept))

    def scores(self, X: Any, weights: np.ndarray) -> np.ndarray:
        d = self.data.n_features
        scores = table_times(X, weights[:d] / self.scale[:, None], self.model.n_jobs)
        if self.intercept:
            scores += weights[d]
        return scores[:, 0] if self.shape[1] == 1 else scores

    def note(self, monitor: Monitor, weights: np.ndarray) -> tuple[bool, bool]:
        """Report a finished round to the monitor; returns whether to keep these weights and whether to stop."""
        return monitor.judge(lambda valid: self.loss.ranking_scores(self.scores(valid.X, weights)))

    def pull_back(self, X: Any, gradient: np.ndarray) -> np.ndarray:
        """Gradient for the weights from the gradient for the scores."""
        gradient = gradient.reshape(-1, self.shape[1])
        out = np.empty(self.shape)
        d = self.data.n_features
        out[:d] = transposed_times(X, gradient, self.model.n_jobs) / self.scale[:, None]
        if self.intercept:
            out[d] = gradient.sum(axis=0)
        return out

    @property
    def n_features(self) -> int:
        return self.data.n_features

    def loss_and_slope(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum of the losses of all queries, and its gradient for the weights."""
        losses, gradient, _ = self.bound.evaluate(self.scores(self.data.X, weights))
        return losses.sum(), self.pull_back(self.data.X, gradient)

    def penalised(self, weights: np.ndarray) -> np.ndarray:
        """The weights without the intercept."""
        return weights[: self.n_features]


def spread(X: Any, weight: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Standard deviation of each feature, 1 for constant ones; documents count as much as they weigh."""
    return deviation(*moments(X, weight, n_jobs))


def deviation(total: float, mean: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Standard deviation from the `moments`, 1 for constant features."""
    spread = np.sqrt(np.maximum(square, 0.0) / total)
    # the spread of a constant column is rounding noise
    return np.where(spread > 1e-7 * np.abs(mean), spread, 1.0)


def moments(X: Any, weight: np.ndarray, n_jobs: int | None) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight of all rows; mean of each feature, and its squared distances from it, summed."""
    total = max(float(weight.sum()), np.finfo(float).tiny)
    mean = transposed_times(X, weight[:, None], n_jobs)[:, 0] / total
    square: np.ndarray = np.zeros(mean.size)
    if isinstance(X, np.ndarray):
        for start in range(0, X.shape[0], _SPREAD_ROWS):  # in blocks, as the distances are float64
            rows = slice(start, start + _SPREAD_ROWS)
            square += weight[rows] @ (X[rows] - mean) ** 2
    else:
        stored = np.repeat(weight, np.diff(X.indptr))
        square += np.bincount(X.indices, stored * (X.data - mean[X.indices]) ** 2, mean.size)
        square += (total - np.bincount(X.indices, stored, mean.size)) * mean**2  # what is not stored is 0
    return total, mean, square


def lbfgs(problem: Any, first: np.ndarray, monitor: Monitor) -> np.ndarray:
    """Quasi-Newton; with an L1 part over positive and negative parts of the weights, which makes it smooth."""
    from scipy.optimize import Bounds, minimize

    model, shape = problem.model, problem.shape
    l1, l2 = model.alpha * model.l1_ratio, model.alpha * (1.0 - model.l1_ratio)
    d = problem.n_features * shape[1]
    best = first.copy()

    def unpack(flat: np.ndarray) -> np.ndarray:
        if l1 == 0.0:
            return flat.reshape(shape)
        weights = flat[: np.prod(shape)].copy()
        weights[:d] -= flat[np.prod(shape) :]
        return weights.reshape(shape)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = unpack(flat)
        total, slope = problem.loss_and_slope(weights)
        kept = problem.penalised(weights)
        value = total / problem.total + 0.5 * l2 * (kept**2).sum()
        slope /= problem.total
        problem.penalised(slope)[...] += l2 * kept
        if l1 == 0.0:
            return value, slope.ravel()
        slope = slope.ravel()
        value += l1 * (flat[:d].sum() + flat[np.prod(shape) :].sum())
        both = np.concatenate([slope, -slope[:d]])
        both[:d] += l1
        both[np.prod(shape) :] += l1
        return value, both

    def callback(flat: np.ndarray) -> None:
        weights = unpack(flat)
        keep, stop = problem.note(monitor, weights)
        if keep:
            best[...] = weights
        if stop:
            raise StopIteration

    start, bounds = first.ravel(), None
    if l1 > 0.0:
        start = np.concatenate([start, np.maximum(-start[:d], 0.0)])
        start[:d] = np.maximum(start[:d], 0.0)
        lower = np.zeros(start.size)
        lower[d : np.prod(shape)] = -np.inf
        bounds = Bounds(lower, np.inf)
    options = {"maxiter": model.max_iter, "ftol": model.tol * 1e-2, "gtol": model.tol, "maxls": 40}
    with monitor.training(model.max_iter, f"{problem.loss.name} · L-BFGS"):
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=callback, options=options)
    return best


def _sgd(problem: _Problem, first: np.ndarray, monitor: Monitor) -> np.ndarray:
    """AdaGrad over batches of queries; the mean of the second half of the path, or the best epoch on validation."""
    model = problem.model
    rng = np.random.default_rng(model.random_state)
    parts = query_batches(problem.data, model.batch_size, rng)
    bound = [(part, problem.loss.bind(part, n_jobs=model.n_jobs)) for part in parts]
    l1, l2 = model.alpha * model.l1_ratio, model.alpha * (1.0 - model.l1_ratio)
    weights, squares = first.copy(), np.full(problem.shape, 1e-12)
    mean, taken, best = np.zeros(problem.shape), 0, first.copy()
    share = problem.total / len(bound)
    previous = np.inf
    with monitor.training(model.max_iter, f"{problem.loss.name} · SGD"):
        for epoch in range(model.max_iter):
            value = 0.0
            for i in rng.permutation(len(bound)):
                part, loss = bound[i]
                losses, gradient, _ = loss.evaluate(problem.scores(part.X, weights), value=problem.loss.has_value)
                value += float(losses.sum())
                slope = problem.pull_back(part.X, gradient) / share
                problem.penalised(slope)[...] += l2 * problem.penalised(weights)
                squares += slope**2
                step = model.learning_rate / np.sqrt(squares)
                weights -= step * slope
                if l1 > 0.0:  # proximal step of the L1 part
                    kept = problem.penalised(weights)
                    kept[...] = np.sign(kept) * np.maximum(np.abs(kept) - problem.penalised(step) * l1, 0.0)
                if epoch >= model.max_iter // 2 or monitor.valid is not None:
                    taken += 1
                    mean += (weights - mean) / taken
            current = mean if taken else weights
            keep, stop = problem.note(monitor, current)
            if keep:
                best = current.copy()
            if stop or (problem.loss.has_value and abs(previous - value) <= model.tol * abs(value)):
                break
            previous = value
    return best


_SOLVERS = {"lbfgs": lbfgs, "sgd": _sgd}
