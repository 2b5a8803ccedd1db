"""Common features, learned from source pairs that agree with the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.feature_transfer import FeatureTransfer
from plackett.rankers.transfer.instance_transfer import agreeing

__all__ = ["CombinedTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class CombinedTransfer(FeatureTransfer):
    """Feature-level and instance-level transfer together.

    `FeatureTransfer` with the source pairs of `InstanceTransfer`: those that a ranker trained on the target orders
    correctly, with each query weighted by its share of such pairs. If all pairs agree, it is `FeatureTransfer`.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=60, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = CombinedTransfer().fit(data.select(range(10)), source=data.select(range(10, 60)))
    >>> ranker.task_weights_.shape
    (2, 5)

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 9.3.
    """

    def _kept(self, sources: dict[Any, RankingDataset], alone: Ranker) -> dict[Any, RankingDataset]:
        kept, self.agreement_ = agreeing(sources, alone, self.base_ranker())
        return kept
