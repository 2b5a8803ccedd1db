"""The number of contradicting pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.pairs import PairMeasure

__all__ = ["ContradictingPairCount"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ContradictingPairCount(PairMeasure):
    r"""Number of pairs of unequal labels that the scores order against the labels. Smaller is better.

    .. math:: |\{(u, v) : l_u > l_v,\ s_u < s_v\}|

    Notes
    -----
    Ties: exact; a tied pair counts one half (``ties="optimistic"`` counts strict contradictions only, as the paper
    does). Unjudged documents form no pairs, and a query without a pair scores `empty`. The total over a dataset is the
    sum of the values per query.

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.contradicting_pairs import ContradictingPairs
    >>> pk.evaluate([2, 1, 0, 0], [4, 2, 3, 2], ContradictingPairs).mean["ContradictingPairs"]
    1.5
    """

    name: ClassVar[str] = "ContradictingPairs"
    aliases: ClassVar[tuple[str, ...]] = ("contradicting_pairs", "DiscordantPairs")
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    ascending: ClassVar[bool] = False

    def of_counts(self, right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """Number of contradicting pairs."""
        return np.where(right + wrong > 0, wrong, np.nan)


ContradictingPairs = ContradictingPairCount()
