"""Common directions of the features of source and target, learned together with their rankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import spread
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.base import TransferRanker
from plackett.rankers.transfer.domains import pooled
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor

__all__ = ["FeatureTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureTransfer(TransferRanker):
    r"""Feature-level transfer: linear rankers of all domains that use few common directions of the features,

    .. math:: \min_{W, D} \sum_d C_d L_d(w_d) + \tfrac12 \sum_d w_d^\top D^{-1} w_d
              + \tfrac{\varepsilon}{2} \operatorname{tr} D^{-1},
              \qquad D \succ 0,\; \operatorname{tr} D = p

    with p features. This is the convex form of learning an orthogonal U and coefficients A with :math:`W = U A` whose
    rows are sparse: at the optimum the penalty is the squared trace norm of W. It is solved by alternating: for a fixed
    D an ordinary ranker per domain on the features :math:`D^{1/2} x`; for fixed rankers
    :math:`D = p\,(W W^\top + \varepsilon I)^{1/2} / \operatorname{tr}(…)`. Features are divided by their standard
    deviation first. With no turns it is the base ranker on the target alone.

    Parameters
    ----------
    n_sweeps
        Number of turns.
    epsilon
        ε, relative to the mean square of the weights; it keeps D invertible.
    source_weight
        Weight of a source query; a target query has weight 1.
    base
        A linear ranker with a squared penalty (`RankSVM`, `ListNet`, `LinearRegression`, …).

    Attributes
    ----------
    task_weights_
        Weights of each domain, the target first, domains × features; NaN for a source that was left out.
    shared_
        The matrix D; ``singular_values_`` are the singular values of the table of weights: few large ones mean few
        common directions.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=60, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = FeatureTransfer().fit(data.select(range(10)), source=data.select(range(10, 60)))
    >>> ranker.task_weights_.shape, ranker.shared_.shape
    ((2, 5), (5, 5))

    References
    ----------
    Argyriou, Evgeniou, Pontil: Convex multi-task feature learning. Machine Learning 2008.
    """

    search_space: ClassVar[SearchSpace] = {"source_weight": Real(0.05, 1.0, log=True), "epsilon": (0.01, 0.1)}

    n_sweeps: int = 5
    epsilon: float = 0.05
    source_weight: float = 1.0

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for name in ("task_weights_", "shared_", "singular_values_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        super()._fit(data, monitor)

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        if not hasattr(alone, "coef_"):
            raise DataError(
                f"{type(self).__name__} needs a linear base ranker, and {type(alone).__name__} is none; "
                "BoostingTransfer and InstanceTransfer take any"
            )
        if self.n_sweeps < 0 or not self.epsilon > 0.0 or not 0.0 < self.source_weight < np.inf:
            raise DataError(
                f"n_sweeps={self.n_sweeps}, epsilon={self.epsilon}, source_weight={self.source_weight}; give 0 or "
                "more, and numbers above 0"
            )
        if self.n_sweeps == 0:
            self._end_with(alone)
            return
        kept = self._kept(sources, alone)
        tasks = [data, *(pooled([source], [self.source_weight]) for source in kept.values())]
        if len(tasks) == 1:
            self._end_with(alone)
            return
        pool = pooled([task.replace(preferences=None) for task in tasks], [1.0] * len(tasks))
        scale = spread(pool.X, pool.row_weight)
        weights, root = np.zeros((len(tasks), data.n_features)), np.eye(data.n_features)
        for _ in range(self.n_sweeps):
            weights = np.stack([self._weights(task, root, scale, alone) for task in tasks])
            self.shared_ = shared_features(weights, self.epsilon)
            values, vectors = np.linalg.eigh(self.shared_)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        weights = np.stack([self._weights(task, root, scale, alone) for task in tasks])
        self.singular_values_ = np.linalg.svd(weights, compute_uv=False)
        self.task_weights_ = np.full((1 + len(sources), data.n_features), np.nan)
        self.task_weights_[[True, *(name in kept for name in sources)]] = weights / scale
        self.scorer_ = LinearScorer(self.task_weights_[0][:, None].copy(), np.zeros(1))

    def _kept(self, sources: dict[Any, RankingDataset], alone: Ranker) -> dict[Any, RankingDataset]:
        """The source data to learn from."""
        return sources

    def _weights(self, task: RankingDataset, root: np.ndarray, scale: np.ndarray, like: Ranker) -> np.ndarray:
        """Weights of the scaled features: the base ranker on the transformed ones."""
        member: Any = self._member(like)
        member.early_stopping_rounds = member.calibration = None
        if "standardize" in member.get_params(deep=False):
            member.standardize = False  # the transformation is the scale
        transformed = np.ascontiguousarray((task.dense() / scale) @ root, np.float32)
        trained: Any = member.trained_copy(task.replace(X=transformed, feature_names=None))
        return root @ trained.coef_

    def for_domain(self, name: Any) -> Self:
        """The ranker of another domain: a copy that scores with the weights of this source.

        The name of the target gives a copy of this ranker.

        >>> import plackett as pk
        >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=3, random_state=0)
        >>> ranker = FeatureTransfer().fit(data, domain=["a"] * 15 + ["b"] * 15, target="b")
        >>> bool((ranker.for_domain("a").coef_ == ranker.task_weights_[1]).all())
        True
        """
        from copy import copy

        self.check_fitted()
        if str(name) == self.card_["transfer"].get("target"):
            return copy(self)
        known = list(self.card_["transfer"]["sources"])
        if str(name) not in known:
            raise DataError(f"no source domain {name!r}; there are {', '.join(map(repr, known)) or 'none'}")
        if not hasattr(self, "task_weights_"):
            raise DataError(f"source {name!r} has no ranker: nothing was learned from sources")
        weights = self.task_weights_[1 + known.index(str(name))]
        if np.isnan(weights).any():
            raise DataError(f"source {name!r} has no ranker: it was left out, as no pair of it agrees with the target")
        other = copy(self)
        other.scorer_ = LinearScorer(weights[:, None].copy(), np.zeros(1))
        other.__dict__.pop("calibration_", None)
        return other


def shared_features(weights: np.ndarray, epsilon: float) -> np.ndarray:
    """The matrix D with trace p that minimises Σ w' D⁻¹ w + ε tr D⁻¹ for the weights of the tasks (tasks × features).

    ε is relative to the mean square of the weights.
    """
    p = weights.shape[1]
    size = float((weights**2).mean())
    if size == 0.0:
        return np.eye(p)
    values, vectors = np.linalg.eigh(weights.T @ weights + epsilon * size * np.eye(p))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return p * root / np.trace(root)
