"""Sampler of queries whose weights share a common direction and differ by noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import number, probability
from plackett._base.cached import cached_property
from plackett.data.dataset import RankingDataset

__all__ = ["PlantedWorld"]


@dataclass(frozen=True)
class PlantedWorld:
    r"""Documents :math:`x \sim N(0, I_d)`, labels :math:`1[w_q \cdot x + \text{noise} \cdot \varepsilon > t]`, weights
    :math:`w_q = w_0 + \text{query\_noise} \cdot \eta_q` that differ from query to query.

    Without query noise all queries have the same distribution, and the two-layer framework equals the document
    framework; with it, the losses within a query are correlated.

    Parameters
    ----------
    n_features
        d.
    noise
        Deviation of the label noise, where :math:`w_0` has length 1.
    query_noise
        Standard deviation of the query's own part of :math:`w_q`, relative to the length of :math:`w_0`.
    relevant
        Share of relevant documents, by the threshold t.
    seed
        Of :math:`w_0`.

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.

    Examples
    --------
    >>> world = PlantedWorld(n_features=3)
    >>> world.sample(10, 5, random_state=0)
    RankingDataset(10 queries, 50 rows, 3 features)
    """

    n_features: int = 10
    noise: float = 0.5
    query_noise: float = 0.5
    relevant: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        number("n_features", self.n_features, least=1)
        number("noise", self.noise, least=0.0)
        number("query_noise", self.query_noise, least=0.0)
        probability("relevant", self.relevant)

    @cached_property
    def direction(self) -> np.ndarray:
        """:math:`w_0`, of length 1."""
        w = np.random.default_rng(self.seed).standard_normal(self.n_features)
        return w / np.linalg.norm(w)

    def sample(self, n_queries: int, n_documents: Any, *, random_state: Any = None) -> RankingDataset:
        """Queries, and documents of each: one number for all, or one per query."""
        from scipy.special import ndtri

        rng = np.random.default_rng(random_state)
        sizes = np.broadcast_to(np.asarray(n_documents, np.int64), n_queries)
        own = self.direction + self.query_noise / np.sqrt(self.n_features) * rng.standard_normal(
            (n_queries, self.n_features)
        )
        query = np.repeat(np.arange(n_queries), sizes)
        X = rng.standard_normal((query.size, self.n_features))
        strength = (X * own[query]).sum(axis=1) + self.noise * rng.standard_normal(query.size)
        spread = np.sqrt(np.square(own).sum(axis=1) + self.noise**2)[query]
        return RankingDataset.from_arrays(X, (strength > -ndtri(self.relevant) * spread).astype(float), query)
