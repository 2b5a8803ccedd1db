"""Average relevance position."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.dcg import discounted
from plackett.measures.gains import check_gain, ideal_dcg, position_gains
from plackett.measures.ranking import Ranking
from plackett.measures.swaps import linear_state

__all__ = ["AverageRelevancePosition"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AverageRelevancePosition(Measure):
    r"""Average relevance position: the mean rank of the documents, weighted by their labels. Smaller is better.

    .. math:: \text{ARP} = \frac{\sum_r G(l_r)\, r}{\sum_r G(l_r)}, \quad G(l) = l

    Parameters
    ----------
    gain
        Weight of a label, ``"linear"`` by default; as for `plackett.measures.nDCG`.
    empty
        Queries without a positive weight are skipped by default, because 0 would beat any real value.

    Notes
    -----
    Documents that were not retrieved count as tied behind the last one. Ties: exact mean over all orders.

    References
    ----------
    Wang, Li, Golbandi, Bendersky, Najork: The LambdaLoss framework for ranking metric optimization. CIKM 2018.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["ARP"]).mean["ARP"]
    2.0
    """

    name: ClassVar[str] = "ARP"
    aliases: ClassVar[tuple[str, ...]] = ("arp", "average_relevance_position")
    ascending: ClassVar[bool] = False
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (1.0, float("inf"))

    empty: float | str = "skip"
    gain: Any = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        gains = position_gains(ranking, self.gain)
        complete = _complete(ranking)
        weighted = discounted(complete, gains, np.arange(1.0, ranking.longest + 1.0), None)
        total = ideal_dcg(ranking.data, self.gain, "none", None)
        return np.divide(weighted, total, where=total > 0, out=np.full(total.size, np.nan))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        total = ideal_dcg(ranking.data, self.gain, "none", None)
        scale = np.divide(1.0, total, where=total > 0, out=np.zeros(total.size))
        ranks = np.arange(1.0, ranking.longest + 1.0)
        behind = (ranking.depth + ranking.data.group + 1) / 2  # mean rank of the documents not retrieved
        return linear_state(ranking, position_gains(ranking, self.gain), scale, ranking.longest, ranks, behind)


ARP = AverageRelevancePosition()


def _complete(ranking: Ranking) -> Ranking:
    """The ranking with the documents that were not retrieved as one more block of ties."""
    if (ranking.depth == ranking.data.group).all():
        return ranking
    behind = np.arange(ranking.labels.size) >= np.repeat(ranking.offsets[:-1] + ranking.depth, ranking.data.group)
    tie_end = np.where(behind, np.repeat(ranking.offsets[1:], ranking.data.group), ranking.tie_end)
    return replace(ranking, depth=ranking.data.group, tie_end=tie_end)
