"""Ordered pair accuracy: the share of matched pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.pairs import PairMeasure

__all__ = ["OrderedPairAccuracy"]


@dataclass(frozen=True, kw_only=True, repr=False)
class OrderedPairAccuracy(PairMeasure):
    r"""Ordered pair accuracy: share of the pairs of unequal labels that the scores order as the labels do.

    .. math:: \text{OPA} = \frac{|\{(u, v) : l_u > l_v,\ s_u > s_v\}|}{|\{(u, v) : l_u > l_v\}|}

    For two grades it is the `AUC`. For the share over all pairs of a dataset together, or over the pairs with the
    largest score differences, see `plackett.pair_precision`.

    Notes
    -----
    Ties: exact; a tied pair is half matched. Unjudged documents form no pairs, and a query without a pair scores
    `empty`. A dataset with preferences but no labels is measured on its preferences.

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.opa import OPA
    >>> pk.evaluate([2, 1, 0, 0], [4, 2, 3, 2], OPA).mean["OPA"]  # 2 > 1 and twice 2 > 0; 1 > 0 wrong and tied
    0.7
    """

    name: ClassVar[str] = "OPA"
    aliases: ClassVar[tuple[str, ...]] = ("MatchedPairs", "matched_pairs", "PairAccuracy", "pair_accuracy")

    def of_counts(self, right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """Share of matched pairs."""
        total = right + wrong
        return np.divide(right, total, out=np.full(total.shape, np.nan), where=total > 0)


OPA = OrderedPairAccuracy()
