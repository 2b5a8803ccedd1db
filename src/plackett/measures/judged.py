"""Share of judged documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits

__all__ = ["JudgedShare"]


@dataclass(frozen=True, kw_only=True, repr=False)
class JudgedShare(Measure):
    """Share of the first k documents that have a judgement (a label of 0 or more).

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents. For a list shorter than k, its own length is used.

    Notes
    -----
    Ties: exact mean over all orders. A query for which nothing was retrieved scores `empty`.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, -1, 0, 1], [4, 3, 2, 1], ["Judged@2"]).mean["Judged@2"]
    0.5
    """

    name: ClassVar[str] = "Judged"
    aliases: ClassVar[tuple[str, ...]] = ("judged",)

    k: int | None = None

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        n = ranking.depth if self.k is None else np.minimum(ranking.depth, self.k)
        return np.where(n > 0, hits(ranking, 0.0, self.k) / np.maximum(n, 1), np.nan)


Judged = JudgedShare()
