"""Winner takes all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import best_labels, hits
from plackett.measures.swaps import linear_state

__all__ = ["WinnerTakesAll"]


@dataclass(frozen=True, kw_only=True, repr=False)
class WinnerTakesAll(Measure):
    """Winner takes all: 1 if the first document is one of the best of its query, otherwise 0.

    Notes
    -----
    Ties: exact mean over all orders. A query without a label above 0 scores `empty`.

    References
    ----------
    Burges, Ragno, Le: Learning to rank with nonsmooth cost functions. NIPS 2006.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 2, 0, 2], [4, 3, 2, 2], ["WTA"], qid=["a", "a", "b", "b"]).per_query["WTA"].to_list()
    [0.0, 0.5]
    """

    name: ClassVar[str] = "WTA"
    aliases: ClassVar[tuple[str, ...]] = ("wta", "winner_takes_all")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        best = best_labels(ranking)
        return np.where(best > 0, hits(ranking, best, 1), np.nan)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        best = best_labels(ranking)
        is_best = ranking.labels == np.repeat(np.where(best > 0, best, np.inf), ranking.data.group)
        return linear_state(ranking, (is_best.astype(float), np.empty(0)), 1.0, 1, np.ones(ranking.longest))


WTA = WinnerTakesAll()
