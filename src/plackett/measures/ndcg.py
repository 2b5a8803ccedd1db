"""Normalised discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import MeasureError
from plackett._kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.gains import check_discount, check_gain, discount_table, gains_of, ideal_gains
from plackett.measures.ranking import Ranking

__all__ = ["nDCG"]


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
        ``"exp2"`` (2^l − 1), ``"linear"`` (l), ``"binary"``, or a table label: gain. ir-measures' and trec_eval's
        nDCG has linear gain: preset ``trec``.
    discount
        ``"log2"``, ``"letor"`` (1, 1, 1/log2 r: the official LETOR scripts), ``"reciprocal"``, ``"none"``, or a list.
    short
        ``"pad"``: positions behind the end of a list add nothing. ``"zero"``: a list of fewer than k documents scores
        0, as in the LETOR scripts.

    Notes
    -----
    Ties: exact mean over all orders, each tied document having the mean gain of its block (McSherry and Najork).
    A query without a positive gain scores `empty`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures import nDCG
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], [nDCG @ 3]).mean["nDCG@3"].__round__(4)
    0.9197
    """

    name: ClassVar[str] = "nDCG"
    aliases: ClassVar[tuple[str, ...]] = ("NDCG", "ndcg", "ndcg_cut", "normalized_discounted_cumulative_gain")
    ids: ClassVar[tuple[str, ...]] = ("eval.ndcg", "eval.ndcg_omega", "M-33")
    paper: ClassVar[str] = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"

    k: int | None = None
    gain: Any = "exp2"
    discount: Any = "log2"
    short: str = "pad"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))
        if self.short not in ("pad", "zero"):
            raise MeasureError(f"{self.name}: short={self.short!r}; give 'pad' or 'zero'")

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        longest = int(np.diff(ranking.offsets).max(initial=1))
        return ranking.run(
            _ndcg,
            gains_of(ranking.labels, self.gain),
            ideal_gains(ranking.data, self.gain),
            discount_table(self.discount, longest),
            self.k or longest,
            self.short == "zero" and self.k is not None,
        )


nDCG = NDCG()


@kernel
def _ndcg(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, gains, ideal, discount, k, zero_if_short, out
):
    for q in range(lo, hi):
        a = offsets[q]
        best = 0.0
        for r in range(min(k, offsets[q + 1] - a)):
            best += ideal[a + r] * discount[r]
        if best <= 0.0:
            out[q] = np.nan
        elif zero_if_short and offsets[q + 1] - a < k:
            out[q] = 0.0
        else:
            out[q] = discounted_sum(a, min(a + k, a + depth[q]), tie_end, gains, discount) / best


@kernel
def discounted_sum(a, stop, tie_end, gains, discount):  # type: ignore[no-untyped-def]
    """Σ gain · discount over the positions a..stop; inside a tie each position has the mean gain of the block."""
    total = 0.0
    i = a
    while i < stop:
        end = tie_end[i]
        if end == i + 1:
            total += gains[i] * discount[i - a]
        else:
            gain = 0.0
            weight = 0.0
            for j in range(i, end):
                gain += gains[j]
            for j in range(i, min(end, stop)):
                weight += discount[j - a]
            total += gain / (end - i) * weight
        i = end
    return total
