"""Source and target together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.arguments import number
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.base import TransferRanker
from plackett.rankers.transfer.domains import pooled

__all__ = ["PooledTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class PooledTransfer(TransferRanker):
    """The base ranker trained on source and target together: the baseline for transfer.

    Parameters
    ----------
    source_weight
        Weight of a source query; a target query has weight 1. 0 is the target alone.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = PooledTransfer(base="LinearRegression").fit(data.select(range(5)), source=data.select(range(5, 40)))
    >>> ranker.card_["transfer"]["sources"]
    {'source': 35}

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 9.
    """

    search_space: ClassVar[SearchSpace] = {"source_weight": Real(0.01, 1.0, log=True)}

    source_weight: float = 1.0

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        number("source_weight", self.source_weight, least=0.0)
        if self.source_weight == 0.0:
            self._end_with(alone)
            return
        parts = [data, *sources.values()]
        self._end_with(self._trained(pooled(parts, [1.0] + [self.source_weight] * len(sources)), valid))
