"""Two layers: the query's features determine the weights of the documents' features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import whole_or_none
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.query_dependent._base import QueryDependent
from plackett.scorers.two_layer import TwoLayerScorer, products
from plackett.solvers.monitor import Monitor

__all__ = ["TwoLayer"]


@dataclass(kw_only=True, eq=False, repr=False)
class TwoLayer(QueryDependent):
    r"""A ranker whose weights depend on the query: :math:`f(x, q) = x^\top w(z_q)` with :math:`w(z) = v_0 + V z`.

    The query layer computes the weights w from the features z of the query, and the document layer scores with them. As
    :math:`x^\top V z` is linear in the products :math:`x_i z_c`, any linear ranker learns V, with its own loss and
    penalty, from x and these products; other rankers (trees) can use the products too. z is reduced to its first
    principal components, so that few numbers are learned from few queries. If all training queries have the same z, it
    is the base ranker.

    Parameters
    ----------
    n_components
        Number of principal components of z to use; None uses z itself.

    Attributes
    ----------
    layer_
        Linear base rankers: the table :math:`(v_0, V)`, features × (1 + components).

    Examples
    --------
    >>> import numpy as np
    >>> import plackett as pk
    >>> rng = np.random.default_rng(0)
    >>> X, z = rng.normal(size=(400, 1)), np.repeat([[1.0], [-1.0]], 20, axis=0)
    >>> y = (X[:, 0] * np.repeat(z[:, 0], 10) > 0).astype(int)  # what is good here is bad there
    >>> data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(40), 10), query_features=z)
    >>> TwoLayer().fit(data).score(data)
    1.0

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 7.2.4.
    """

    search_space: ClassVar[SearchSpace] = {"n_components": (1, 2, 4, 8)}

    n_components: int | None = 4

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        whole_or_none("n_components", self.n_components, least=1)
        query_map = self._query_map(data)
        z = query_map(data.X, data.offsets, data.query_features)
        projection = _components(z, self.n_components)
        scorer = TwoLayerScorer((self._member(),), query_map, projection)

        def widened(part: RankingDataset | None) -> RankingDataset | None:
            if part is None:
                return None
            own = scorer.choose(part.X, part.offsets, query_map(part.X, part.offsets, part.query_features))
            names = None if own.shape[1] else part.feature_names
            return part.replace(X=products(part.X, part.offsets, own), feature_names=names)

        train, valid = widened(data), widened(monitor.valid)
        assert train is not None
        self.scorer_ = TwoLayerScorer((self._trained(train, valid),), query_map, projection)
        monitor.judge(self.score_rows)

    @property
    def layer_(self) -> np.ndarray:
        """Linear base rankers: weights of the features, and of their products with each component of z."""
        self.check_fitted()
        return self.scorer_.members[0].coef_.reshape(-1, self.n_features_in_).T


def _components(z: np.ndarray, n: int | None) -> np.ndarray:
    """The first principal directions of query features, each scaled to variance 1 and with a fixed sign."""
    if n is None or z.shape[1] <= n:
        return np.eye(z.shape[1])
    _, values, vectors = np.linalg.svd(z, full_matrices=False)
    some = vectors[: min(n, int((values > 1e-9 * values[0]).sum()))]
    some = some * np.sign(some[np.arange(len(some)), np.abs(some).argmax(axis=1)])[:, None]
    return np.ascontiguousarray((some * (np.sqrt(len(z)) / values[: len(some), None])).T)
