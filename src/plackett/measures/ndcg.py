"""Normalised discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett.measures.base import Measure
from plackett.measures.dcg import discounted
from plackett.measures.gains import check_discount, check_gain, discount_table, ideal_dcg, position_gains
from plackett.measures.ranking import Ranking
from plackett.measures.swaps import linear_state

__all__ = ["NDCG"]


@dataclass(frozen=True, kw_only=True, repr=False)
class NDCG(Measure):
    r"""Normalised discounted cumulative gain.

    .. math:: \text{nDCG@}k = \frac{1}{Z_k} \sum_{r=1}^{k} G(l_r)\,\eta(r)

    where :math:`l_r` is the label at rank r, :math:`G(l) = 2^l - 1`, :math:`\eta(r) = 1/\log_2(1 + r)`, and
    :math:`Z_k` is the sum for the ideal order of all judged documents of the query.

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    gain
        ``"exp2"`` (2^l − 1), ``"linear"`` (l), ``"binary"``, or a dict ``{label: gain}``. ir-measures' and
        trec_eval's nDCG has linear gain: preset ``trec``.
    discount
        ``"log2"``, ``"letor"`` (1, 1, 1/log2 r: the official LETOR scripts), ``"reciprocal"``, ``"none"``, or a list.
    short
        ``"pad"``: positions past the end of a list add nothing. ``"zero"``: a list of fewer than k documents scores
        0, as in the LETOR scripts.

    Notes
    -----
    Ties: exact mean over all orders, each tied document having the mean gain of its block (McSherry and Najork).
    A query without a positive gain scores `empty`.

    References
    ----------
    Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM Transactions on Information Systems
    2002.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures import nDCG
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], [nDCG @ 3]).mean["nDCG@3"].__round__(4)
    0.9197
    """

    name: ClassVar[str] = "nDCG"
    aliases: ClassVar[tuple[str, ...]] = ("NDCG", "ndcg", "ndcg_cut", "normalized_discounted_cumulative_gain")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    k: int | None = None
    gain: Any = "exp2"
    discount: Any = "log2"
    short: str = "pad"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))
        choice(f"{self.name}: short", self.short, ("pad", "zero"), error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        best = ideal_dcg(ranking.data, self.gain, self.discount, self.k)
        weights = discount_table(self.discount, ranking.longest)
        values = discounted(ranking, position_gains(ranking, self.gain), weights, self.k)
        values = np.divide(values, best, where=best > 0, out=np.full(best.size, np.nan))
        if self.short == "zero" and self.k is not None:
            values[(best > 0) & (ranking.data.group < self.k)] = 0.0
        return values

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        best = ideal_dcg(ranking.data, self.gain, self.discount, self.k)
        scale = np.divide(1.0, best, where=best > 0, out=np.zeros(best.size))
        if self.short == "zero" and self.k is not None:
            scale[ranking.data.group < self.k] = 0.0
        weights = discount_table(self.discount, ranking.longest)
        return linear_state(ranking, position_gains(ranking, self.gain), scale, self.k or ranking.longest, weights)


nDCG = NDCG()
