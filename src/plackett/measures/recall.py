"""Recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant, relevance, where_relevant
from plackett.measures.swaps import linear_state

__all__ = ["Recall"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Recall(Measure):
    r"""Recall: the share of all relevant documents of the query found among the first k.

    .. math:: \text{R@}k = \frac1R \sum_{r=1}^{k} [l_r \ge \text{rel}]

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents (trec_eval's set_recall).
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Cleverdon: The Cranfield tests on index language devices. Aslib Proceedings 1967.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["R@2"]).mean["R@2"]
    0.5
    """

    name: ClassVar[str] = "R"
    aliases: ClassVar[tuple[str, ...]] = ("Recall", "recall", "set_recall", "SetR")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        n_hits = hits(ranking, self.rel, self.k)
        return where_relevant(ranking, self.rel, n_hits / np.maximum(n_relevant(ranking, self.rel), 1))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        scale = 1.0 / np.maximum(n_relevant(ranking, self.rel), 1)
        cut = ranking.depth if self.k is None else self.k
        return linear_state(ranking, relevance(ranking, self.rel), scale, cut, np.ones(ranking.longest))


R = Recall()
