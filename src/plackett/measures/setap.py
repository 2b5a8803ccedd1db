"""Precision times recall of the retrieved set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant, where_relevant

__all__ = ["SetAveragePrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SetAveragePrecision(Measure):
    """Precision times recall of all retrieved documents: average precision that ignores their order.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0], [2, 1], ["SetAP"]).mean["SetAP"]
    0.5
    """

    name: ClassVar[str] = "SetAP"
    aliases: ClassVar[tuple[str, ...]] = ("set_map",)

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        size = np.maximum(ranking.depth, 1) * np.maximum(n_relevant(ranking, self.rel), 1)
        return where_relevant(ranking, self.rel, hits(ranking, self.rel, None) ** 2 / size)


SetAP = SetAveragePrecision()
