"""CoupleNet: RankNet with weights computed from the query by a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett._names.catalogue import find
from plackett.data.dataset import RankingDataset
from plackett.data.moments import spread
from plackett.losses.base import BoundLoss, Loss
from plackett.models.linear import Linear
from plackett.rankers.gradient_ranker import class_named
from plackett.rankers.query_dependent._base import UsesQueryFeatures
from plackett.scorers.couple_net import CoupleNetScorer
from plackett.scorers.products import block_sums, table_times
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["CoupleNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class CoupleNet(UsesQueryFeatures):
    r"""CoupleNet: RankNet whose weights are the output of a second network on the features of the query,

    .. math:: f(x, q) = x^\top w(z_q), \qquad w(z) = w_0 + B \tanh(A z + a).

    Both layers are trained together by back-propagation of the pairwise logistic loss, or another smooth loss, with
    L-BFGS. The gradients of the scores of a query are summed first, so pairs cost no more than in RankNet. If all
    training queries have the same features, it is the linear RankNet.

    Parameters
    ----------
    hidden
        Number of hidden units of the query network.
    loss
        A smooth loss: its name or an object.
    alpha
        Strength of the squared penalty of all weights but the shifts a.
    max_iter, tol
        Maximum number of iterations, and the relative change at which to stop.

    Examples
    --------
    >>> import numpy as np
    >>> import plackett as pk
    >>> rng = np.random.default_rng(0)
    >>> X, z = rng.normal(size=(400, 1)), np.repeat([[1.0], [-1.0]], 20, axis=0)
    >>> y = (X[:, 0] * np.repeat(z[:, 0], 10) > 0).astype(int)  # what is good here is bad there
    >>> data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(40), 10), query_features=z)
    >>> CoupleNet(hidden=2).fit(data).score(data)
    1.0

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 7.2.4 (CoupleNet).
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"hidden": (2, 4, 8), "alpha": Real(1e-4, 1e-1, log=True)}
    _test_settings: ClassVar[dict[str, Any]] = {"hidden": 3, "max_iter": 40}
    # query features are standardised over the queries, whatever they weigh
    _test_skips: ClassVar[tuple[str, ...]] = ("query_weight",)

    hidden: int = 4
    loss: Any = "Logistic"
    alpha: float = 1e-3
    max_iter: int = 300
    tol: float = 1e-6

    @property
    def takes_preferences(self) -> bool:  # type: ignore[override]
        """Whether it learns from explicit preferences; decided by the loss."""
        return self.make_loss().takes_preferences

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        if isinstance(self.loss, Loss):
            return self.loss
        item = find("loss", str(self.loss), error=LossError)
        made = class_named("loss", item.name)
        return made(normalize=True) if "normalize" in made.__dataclass_fields__ else made()

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        loss = self.make_loss()
        if not (loss.has_value and loss.smooth):
            raise LossError(f"loss={loss} cannot be used: CoupleNet needs a smooth loss with a value")
        if self.hidden < 1 or self.alpha < 0.0:
            raise LossError(f"hidden={self.hidden}, alpha={self.alpha}; give 1 or more, and 0 or more")
        query_map = self._query_map(data)
        z = query_map(data.X, data.offsets, data.query_features)
        if query_map.n_features == 0:
            linear = Linear(alpha=self.alpha, max_iter=self.max_iter, tol=self.tol, n_jobs=self.n_jobs)
            self.scorer_ = linear.train(loss, data, monitor)
            return
        bound = loss.settle(data).bind(data, n_jobs=self.n_jobs)
        if bound.n_outputs != 1:
            raise LossError(f"loss={loss} has several outputs per document, CoupleNet has one")
        scale = spread(data.X, data.row_weight)
        layers = Layers(data, z, scale, bound, self.alpha, self.hidden)
        self.scorer_ = self._minimised(layers, query_map, monitor)

    def _minimised(self, layers: Layers, query_map: Any, monitor: Monitor) -> CoupleNetScorer:
        def scorer(flat: np.ndarray) -> CoupleNetScorer:
            documents, queries = layers.unpack(flat)
            return CoupleNetScorer(query_map, documents / layers.scale[:, None], queries.copy())

        def stop(flat: np.ndarray) -> bool:
            return monitor.keep(scorer(flat))

        start = layers.start(np.random.default_rng(self.random_state))
        options = {"maxiter": self.max_iter, "ftol": self.tol * 1e-2, "gtol": self.tol, "maxls": 40}
        with monitor.training(self.max_iter, "CoupleNet · L-BFGS"):
            quasi_newton(layers.objective, start, stop, **options)
        return monitor.best or scorer(start)


class Layers:
    """The penalised mean loss as a function of both layers, in one flat vector."""

    def __init__(
        self, data: RankingDataset, z: np.ndarray, scale: np.ndarray, bound: BoundLoss, alpha: float, hidden: int
    ) -> None:
        self.data, self.z, self.scale, self.bound, self.alpha = data, z, scale, bound, alpha
        self.shapes = (data.n_features, hidden + 1), (z.shape[1] + 1, hidden)
        self.total = max(float(bound.query_weight.sum()), np.finfo(float).tiny)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Small random weights in the query layer, zeros in the document layer."""
        documents, queries = np.zeros(self.shapes[0]), np.zeros(self.shapes[1])
        queries[:-1] = rng.normal(size=queries[:-1].shape) / np.sqrt(max(self.z.shape[1], 1))
        return np.concatenate([documents.ravel(), queries.ravel()])

    def unpack(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Document layer and query layer."""
        cut = self.shapes[0][0] * self.shapes[0][1]
        return flat[:cut].reshape(self.shapes[0]), flat[cut:].reshape(self.shapes[1])

    def objective(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        documents, queries = self.unpack(flat)
        data = self.data
        hidden = np.hstack([np.ones((len(self.z), 1)), np.tanh(self.z @ queries[:-1] + queries[-1])])
        parts = table_times(data.X, documents / self.scale[:, None], self.bound.n_jobs)
        scores = (parts * np.repeat(hidden, data.group, axis=0)).sum(axis=1)
        losses, gradient, _ = self.bound.evaluate(self.bound.check(scores))
        # per query: Σ_j g_j x_j, from which both layers follow
        pulled = block_sums(data.X, gradient[:, None], data.offsets, self.bound.n_jobs)[:, 0] / self.scale
        back = (pulled @ documents)[:, 1:] * (1.0 - hidden[:, 1:] ** 2)
        slope_documents = pulled.T @ hidden / self.total + self.alpha * documents
        slope_queries = np.vstack([self.z.T @ back, back.sum(axis=0)]) / self.total
        slope_queries[:-1] += self.alpha * queries[:-1]
        value = losses.sum() / self.total + 0.5 * self.alpha * ((documents**2).sum() + (queries[:-1] ** 2).sum())
        return float(value), np.concatenate([slope_documents.ravel(), slope_queries.ravel()])
