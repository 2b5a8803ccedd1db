"""Linear rankers by L-BFGS over shards: each step sums losses and gradients where the data are."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.cluster.noting import note_training
from plackett.cluster.shards import Shards, check_ids
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.moments import deviation, merged_moments, moments, weight_of_rows
from plackett.losses.base import BoundLoss, Loss
from plackett.models.linear import Linear, lbfgs
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times, transposed_times

__all__ = ["fit_linear"]


def fit_linear(ranker: Any, shards: Shards) -> Any:
    r"""Fit a linear ranker to data in shards.

    The objective is a sum over queries, and so is its gradient,

    .. math:: \nabla F(v) = \sum_s \sum_{q \in s} w_q \nabla L_q(X_q v) + \alpha v,

    so that each shard s computes its part and the parts are added (map and reduce). The steps are those of `fit` on one
    machine; the weights are equal up to the rounding of sums that are added in another order.

    Parameters
    ----------
    ranker
        A ranker made of a smooth loss and a linear model: `ListNet`, `ListMLE`, `RankNet` with ``model="linear"`` and
        others. Validation data are not used. Labels, not features, travel to this process once.
    shards
        The data; the queries of the shards are distinct.

    Returns
    -------
    The ranker, fitted.

    References
    ----------
    Chu, Kim, Lin, Yu, Bradski, Ng, Olukotun: Map-reduce for machine learning on multicore. NIPS 2006.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = fit_linear(pk.ListNet(alpha=0.1), pk.cluster.SerialShards(data, 3))
    >>> bool(np.allclose(ranker.coef_, pk.ListNet(alpha=0.1).fit(data).coef_, rtol=1e-4, atol=1e-6))
    True
    """
    from plackett.rankers.base import GradientTrained

    if not isinstance(ranker, GradientTrained) or not isinstance(ranker.make_model(), Linear):
        raise LossError(f"{type(ranker).__name__} is not a loss with a linear model; fit it on one machine")
    for name in ("early_stopping_rounds", "validation_fraction", "calibration"):
        if getattr(ranker, name) is not None:
            raise LossError(f"{name}={getattr(ranker, name)!r} needs validation data, which fit_linear does not use")
    model: Any = ranker.make_model()
    loss = ranker.make_loss()
    if isinstance(model.alpha, str):
        raise LossError(f"alpha={model.alpha!r} is chosen by cross-validation on one machine; give a number")
    if not (loss.has_value and loss.smooth) or model.solver not in ("auto", "lbfgs"):
        raise LossError(f"{loss} has to be smooth, and solver 'auto' or 'lbfgs': others need the data in one place")
    check_separable(loss)
    check_ids(shards)
    problem = _Problem(model, loss, shards)
    monitor = ranker.make_monitor(None)
    weights = lbfgs(problem, np.zeros(problem.shape), monitor)
    ranker.scorer_ = ranker.finished(problem.scorer(weights))
    sizes = {"queries": problem.n_queries, "rows": problem.n_rows, "features": problem.n_features}
    note_training(ranker, shards, sizes | {"shards": len(problem.sizes)}, problem.names)
    return ranker


def check_separable(loss: Loss) -> None:
    """Reject a loss that is not a sum over shards."""
    if not loss.separable or loss.counts_rounds:
        raise LossError(f"{loss} looks at all queries together and is not a sum over shards; fit it on one machine")


class _Problem:
    """What `lbfgs` asks for, as sums over shards."""

    def __init__(self, model: Linear, loss: Loss, shards: Shards) -> None:
        self.model, self.shards = model, shards
        about = shards.gather(_about)
        self.sizes = [part[1].shape[0] for part in about]
        self.names = about[0][3]
        if len({(part[2], part[3]) for part in about}) > 1:
            raise LossError("the shards have different features")
        self.n_features = about[0][2]
        labels = np.concatenate([part[1] for part in about])
        groups = np.concatenate([part[0] for part in about])
        self.n_queries, self.n_rows = groups.size, labels.size
        self.loss = loss.settle(RankingDataset.from_arrays(None, labels, group=groups))
        bound = shards.gather(_bound_sizes, (self.loss, model.n_jobs))
        self.total = max(sum(weight for _, weight in bound), np.finfo(float).tiny)
        self.scale = np.ones(self.n_features)
        if model.standardize:
            self.scale = deviation(*reduce(merged_moments, shards.gather(_moments, model.n_jobs)))
        self.intercept = not loss.shift_invariant
        self.shape = (self.n_features + self.intercept, bound[0][0])

    def loss_and_slope(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum of the losses of all queries, and its gradient for the weights."""
        d = self.n_features
        asked = (
            self.loss,
            weights[:d] / self.scale[:, None],
            weights[d] if self.intercept else None,
            self.model.n_jobs,
        )
        value, slope, constant = self.shards.sum(_loss_and_slope, asked)
        out = np.empty(self.shape)
        out[:d] = slope / self.scale[:, None]
        if self.intercept:
            out[d] = constant
        return value, out

    def penalised(self, weights: np.ndarray) -> np.ndarray:
        """The weights without the intercept."""
        return weights[: self.n_features]

    def note(self, monitor: Any, weights: np.ndarray) -> tuple[bool, bool]:
        """Report a finished round to the monitor."""
        return monitor.judge(lambda valid: np.zeros(0))

    def scorer(self, weights: np.ndarray) -> LinearScorer:
        """The ranker's scorer for these weights."""
        intercept = weights[-1] if self.intercept else np.zeros(self.shape[1])
        return LinearScorer(weights[: self.n_features] / self.scale[:, None], np.array(intercept))


def _about(shard: RankingDataset, _: Any) -> tuple[np.ndarray, np.ndarray, int, Any]:
    refuse_categories(shard.categories, "a linear model")
    return shard.group, np.asarray(shard.labels), shard.n_features, shard.feature_names


def _moments(shard: RankingDataset, _: Any) -> tuple[float, np.ndarray, np.ndarray]:
    return moments(shard.X, weight_of_rows(shard))


def _bound(shard: RankingDataset, loss: Loss, n_jobs: int | None) -> BoundLoss:
    """The loss on the shard, made once in each worker."""
    key = "cluster", loss
    if key not in shard.memo:
        shard.memo[key] = loss.bind(shard, n_jobs=n_jobs)
    return shard.memo[key]


def _bound_sizes(shard: RankingDataset, asked: Any) -> tuple[int, float]:
    bound = _bound(shard, *asked)
    return bound.n_outputs, float(bound.query_weight.sum())


def _loss_and_slope(shard: RankingDataset, asked: Any) -> tuple[float, np.ndarray, np.ndarray]:
    loss, weights, intercept, n_jobs = asked
    bound = _bound(shard, loss, n_jobs)
    scores = table_times(shard.X, weights, n_jobs)
    if intercept is not None:
        scores += intercept
    losses, gradient, _ = bound.evaluate(scores[:, 0] if bound.n_outputs == 1 else scores)
    gradient = gradient.reshape(-1, bound.n_outputs)
    return float(losses.sum()), transposed_times(shard.X, gradient, n_jobs), gradient.sum(axis=0)
