"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.dcg import discounted
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import relevance, where_relevant
from plackett.measures.swaps import linear_state

__all__ = ["RankBiasedPrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBiasedPrecision(Measure):
    r"""Rank-biased precision: the rate of relevant documents seen by a user who continues with probability p.

    .. math:: \text{RBP} = (1 - p) \sum_{r} p^{r-1} [l_r \ge \text{rel}]

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    p
        Persistence: the probability of looking at the next document.
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    A finite list cannot reach 1: n relevant documents score :math:`1 - p^n`. Ties: exact mean over all orders.

    References
    ----------
    Moffat, Zobel: Rank-biased precision for measurement of retrieval effectiveness. ACM Transactions on Information
    Systems 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["RBP(p=0.5)"]).mean["RBP(p=0.5)"]
    0.625
    """

    name: ClassVar[str] = "RBP"
    aliases: ClassVar[tuple[str, ...]] = ("rbp", "rank_biased_precision")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    k: int | None = None
    p: float = 0.8
    rel: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.p, (str, bool)) or not 0 < self.p < 1:
            raise MeasureError(f"{self.name}: p={self.p!r}; the persistence must be between 0 and 1")

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        values = discounted(ranking, relevance(ranking, self.rel), self._weights(ranking), self.k)
        return where_relevant(ranking, self.rel, values)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        cut = self.k or ranking.longest
        return linear_state(ranking, relevance(ranking, self.rel), 1.0, cut, self._weights(ranking))

    def _weights(self, ranking: Ranking) -> np.ndarray:
        return (1.0 - self.p) * self.p ** np.arange(ranking.longest)


RBP = RankBiasedPrecision()
