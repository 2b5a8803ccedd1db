"""Reciprocal rank fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett.aggregation._reciprocal import reciprocal_sums
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["RRF"]


@dataclass(frozen=True, kw_only=True)
class RRF(Aggregation):
    r"""Reciprocal rank fusion.

    .. math:: s(d) = \sum_{m \ni d} \frac{w_m}{k + r_m(d)}

    A list that lacks a document adds nothing for it. Tied documents share the mean of their ranks.

    Parameters
    ----------
    k
        How slowly the weight falls with rank, 0 or more.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b"], ["b"]])
    >>> RRF(k=1).scores(lists).round(4).tolist()  # 1/2, and 1/3 + 1/2
    [0.5, 0.8333]

    References
    ----------
    Cormack, Clarke, Büttcher: Reciprocal rank fusion outperforms Condorcet and individual rank learning methods.
    SIGIR 2009.
    """

    name: ClassVar[str] = "RRF"
    aliases: ClassVar[tuple[str, ...]] = ("ReciprocalRankFusion",)

    k: float = 60

    def __post_init__(self) -> None:
        number("RRF: k", self.k, least=0)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return reciprocal_sums(lists, weights, self.k, 1, n_jobs)[0]
