"""Rankers for several domains at once, each learning from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from plackett.data.ids import distinct
from plackett.rankers.transfer.domains import domain_names
from plackett.rankers.transfer.feature_transfer import FeatureTransfer

__all__ = ["MultiTask"]


@dataclass(kw_only=True, eq=False, repr=False)
class MultiTask(FeatureTransfer):
    """Multi-task ranking: one linear ranker per domain, all over few common directions of the features.

    The optimisation problem of `FeatureTransfer` with any number of equal domains: ``fit(data, domain=…)`` takes a name
    per query. It ranks for the domain ``target``, by default the one with the most queries; `for_domain` returns the
    ranker of another. With one domain it is the base ranker.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=60, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = MultiTask().fit(data, domain=["de"] * 30 + ["fr"] * 20 + ["it"] * 10)
    >>> ranker.task_weights_.shape, list(ranker.card_["transfer"]["sources"])
    ((3, 5), ['fr', 'it'])

    References
    ----------
    Argyriou, Evgeniou, Pontil: Convex multi-task feature learning. Machine Learning 2008.
    """

    def fit(
        self, X: Any, y: Any = None, *, source: Any = None, domain: Any = None, target: Any = None, **arguments: Any
    ) -> Self:
        """Learn from the labelled documents of all domains; arguments as in `FeatureTransfer`, ``target`` optional."""
        if domain is not None and target is None and np.size(domain):
            names, number = distinct(domain_names(domain))
            target = names.tolist()[np.bincount(number.ravel()).argmax()]
        return super().fit(X, y, source=source, domain=domain, target=target, **arguments)
