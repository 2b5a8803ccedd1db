"""Success."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.rr import first_relevant, first_relevant_state

__all__ = ["SuccessRate"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SuccessRate(Measure):
    """Success, or hit rate: 1 if a relevant document is among the first k, otherwise 0.

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact mean over all orders (hypergeometric).

    References
    ----------
    Craswell, Hawking: Overview of the TREC-2004 web track. TREC 2005.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1, 0], [1, 1, 0], ["Success@1"]).mean["Success@1"]
    0.5
    """

    name: ClassVar[str] = "Success"
    aliases: ClassVar[tuple[str, ...]] = ("success", "hit_rate", "HitRate", "HR")
    swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return np.minimum(first_relevant(ranking, self.rel, np.ones(ranking.longest), self.k), 1.0)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        return first_relevant_state(ranking, self.rel, np.ones(ranking.longest), self.k)


Success = SuccessRate()
