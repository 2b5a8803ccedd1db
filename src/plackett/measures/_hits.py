"""What precision and recall share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, relevance, where_relevant
from plackett.measures.swaps import linear_state


@dataclass(frozen=True, kw_only=True, repr=False)
class ShareOfHits(Measure):
    """The number of relevant documents among the first k, divided by a number of documents of the query."""

    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0

    def divisor(self, ranking: Ranking) -> np.ndarray:
        """What the hits of each query are divided by."""
        raise NotImplementedError

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return where_relevant(ranking, self.rel, hits(ranking, self.rel, self.k) / self.divisor(ranking))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        cut = ranking.depth if self.k is None else self.k
        weights = np.ones(ranking.longest)
        return linear_state(ranking, relevance(ranking, self.rel), 1.0 / self.divisor(ranking), cut, weights)
