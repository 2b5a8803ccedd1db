"""Inverse square rank fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation._reciprocal import reciprocal_sums
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["ISR"]


@dataclass(frozen=True, kw_only=True)
class ISR(Aggregation):
    r"""Inverse square rank fusion, with N(d) the number of lists that have the document.

    .. math:: s(d) = N(d) \sum_{m \ni d} \frac{w_m}{r_m(d)^2}

    Examples
    --------
    >>> ISR().scores(RankLists.from_orders([["a", "b"], ["b"]])).tolist()  # 1, and 2 · (1/4 + 1)
    [1.0, 2.5]

    References
    ----------
    Mourão, Martins, Magalhães: Multimodal medical information retrieval with unsupervised rank fusion. Computerized
    Medical Imaging and Graphics 2015.
    """

    name: ClassVar[str] = "ISR"
    aliases: ClassVar[tuple[str, ...]] = ("InverseSquareRank",)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        total, count = reciprocal_sums(lists, weights, 0.0, 2, n_jobs)
        return total * count
