"""Borda's count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["Borda"]


@dataclass(frozen=True, kw_only=True)
class Borda(Aggregation):
    r"""Borda count: a list of n documents gives n − 1 points to its first, n − 2 to its second, and so on.

    .. math:: s(d) = \sum_m w_m \, (n - r_m(d))

    The order by these scores has the smallest weighted sum of squared rank differences to the lists. Ties share the
    mean of their ranks.

    Parameters
    ----------
    unranked
        ``"below"``: the documents that a list lacks share its remaining points, as in BordaFuse; ``"unknown"``:
        they get none.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])
    >>> Borda().scores(lists).tolist()  # the last list leaves one point to two documents
    [3.5, 5.0, 0.5]

    References
    ----------
    Aslam, Montague: Models for metasearch. SIGIR 2001.
    Borda: Mémoire sur les élections au scrutin. 1781.
    """

    name: ClassVar[str] = "Borda"
    aliases: ClassVar[tuple[str, ...]] = ("BordaCount", "BordaFuse", "WeightedBordaFuse")

    unranked: str = "below"

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return lists.once(("borda", self.unranked), lambda: self._points(lists)) @ weights

    def _points(self, lists: RankLists) -> np.ndarray:
        points = lists.per_row(lists.group)[:, None] - lists.places(self.unranked).ranks
        return np.nan_to_num(points, copy=False, nan=0.0)
