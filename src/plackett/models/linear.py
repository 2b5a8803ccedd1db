"""Linear scoring: one weight per feature. An intercept does not change a ranking, so none is needed to rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import is_large, row_array
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.blocks import bind_in_blocks
from plackett.scorers.base import Scorer
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["Linear"]


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
        problem = LinearObjective(self, loss, data)
        first = problem.start(start)
        monitor.consider(start, problem.loss)
        return problem.scorer(_SOLVERS[solver](problem, first, monitor))


class LinearObjective:
    """The objective over scaled weights (features × outputs), the last row the intercept where there is one."""

    def __init__(self, model: Linear, loss: Loss, data: RankingDataset) -> None:
        self.model, self.loss, self.data = model, loss.settle(data), data
        self.bound = bind_in_blocks(self.loss, data, model.n_jobs)
        #: Scores of the training data, on disk if the data are.
        self.score_buffer: np.ndarray | None = None
        self.total = max(float(self.bound.query_weight.sum()), np.finfo(float).tiny)
        self.scale = feature_scale(data.X, weight_of_rows(data), model.standardize)
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

    def scores(self, X: Any, weights: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        d = self.data.n_features
        scores = table_times(X, weights[:d] / self.scale[:, None], self.model.n_jobs, out)
        if self.intercept:
            scores += weights[d]
        return scores[:, 0] if self.shape[1] == 1 else scores

    def own_scores(self, weights: np.ndarray) -> np.ndarray:
        """Scores of the training data; overwritten by the next call."""
        if self.score_buffer is None:
            self.score_buffer = row_array(self.data.X, (self.data.n_rows, self.shape[1]))
        return self.scores(self.data.X, weights, self.score_buffer)

    def note(self, monitor: Monitor, weights: np.ndarray) -> tuple[bool, bool]:
        """Report a finished round to the monitor; returns whether to keep these weights and whether to stop."""
        return monitor.judge(lambda valid: self.loss.ranking_scores(self.scores(valid.X, weights)), by_parts=True)

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
        losses, gradient, _ = self.bound.evaluate(self.own_scores(weights))
        return losses.sum(), self.pull_back(self.data.X, gradient)

    def penalised(self, weights: np.ndarray) -> np.ndarray:
        """The weights without the intercept."""
        return weights[: self.n_features]


def lbfgs(problem: Any, first: np.ndarray, monitor: Monitor) -> np.ndarray:
    """Quasi-Newton. With an L1 part, over the positive and negative parts of the weights, which makes it smooth."""
    from scipy.optimize import Bounds

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

    def stop(flat: np.ndarray) -> bool:
        weights = unpack(flat)
        keep, enough = problem.note(monitor, weights)
        if keep:
            best[...] = weights
        return enough

    start, bounds = first.ravel(), None
    if l1 > 0.0:
        start = np.concatenate([start, np.maximum(-start[:d], 0.0)])
        start[:d] = np.maximum(start[:d], 0.0)
        lower = np.zeros(start.size)
        lower[d : np.prod(shape)] = -np.inf
        bounds = Bounds(lower, np.inf)
    options: dict[str, Any] = {"maxiter": model.max_iter, "ftol": model.tol * 1e-2, "gtol": model.tol, "maxls": 40}
    with monitor.training(model.max_iter, f"{problem.loss.name} · L-BFGS"):
        quasi_newton(objective, start, stop, bounds=bounds, **options)
    return best


def _sgd(problem: LinearObjective, first: np.ndarray, monitor: Monitor) -> np.ndarray:
    """AdaGrad over batches of queries; the mean of the second half of the path, or the best epoch on validation."""
    model = problem.model
    rng = np.random.default_rng(model.random_state)
    bound = _Batches(problem, rng)
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


class _Batches(Sequence[tuple[RankingDataset, BoundLoss]]):
    """Random batches of queries with the loss bound to each; for data on disk, each batch is made when it is used."""

    def __init__(self, problem: LinearObjective, rng: np.random.Generator) -> None:
        self.problem, self.made = problem, None
        self.n, self.size = problem.data.n_queries, max(problem.model.batch_size, 1)
        self.order = rng.permutation(self.n)
        if not is_large(problem.data.X) or problem.loss.counts_rounds:
            shuffled = problem.data.select(self.order)
            self.made = [self._bound(shuffled.select(queries)) for queries in map(self._queries, range(len(self)))]

    def __len__(self) -> int:
        return -(-self.n // self.size)

    def __getitem__(self, i: Any) -> Any:
        return (
            self.made[i]
            if self.made is not None
            else self._bound(self.problem.data.select(self.order[self._queries(i)]))
        )

    def _queries(self, i: int) -> np.ndarray:
        return np.arange(i * self.size, min((i + 1) * self.size, self.n))

    def _bound(self, part: RankingDataset) -> tuple[RankingDataset, BoundLoss]:
        return part, self.problem.loss.bind(part, n_jobs=self.problem.model.n_jobs)


_SOLVERS = {"lbfgs": lbfgs, "sgd": _sgd}


def train_near(model: Linear, loss: Loss, data: RankingDataset, old: LinearScorer, rho: float) -> LinearScorer:
    r"""Minimise the objective of the model plus :math:`\frac{\rho}{2} \lVert v - v_\text{old} \rVert_2^2`.

    The weights v are those of the standardised features. Needs a smooth loss with a value and no L1 part.
    """
    if not (loss.has_value and loss.smooth) or model.l1_ratio > 0.0:
        raise LossError("staying near old weights needs a smooth loss with a value, and l1_ratio=0")
    problem = LinearObjective(model, loss, data)
    centre = problem.start(old)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(problem.shape)
        total, slope = problem.loss_and_slope(weights)
        kept, away = problem.penalised(weights), weights - centre
        value = total / problem.total + 0.5 * model.alpha * (kept**2).sum() + 0.5 * rho * (away**2).sum()
        slope = slope / problem.total + rho * away
        problem.penalised(slope)[...] += model.alpha * kept
        return float(value), slope.ravel()

    options: dict[str, Any] = {"maxiter": model.max_iter, "ftol": model.tol * 1e-2, "gtol": model.tol, "maxls": 40}
    optimum = quasi_newton(objective, centre.ravel(), **options)
    return problem.scorer(optimum.x.reshape(problem.shape))
