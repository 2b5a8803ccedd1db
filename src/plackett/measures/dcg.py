"""Discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.gains import check_discount, check_gain, discount_table, gain_at, ideal_dcg, position_gains
from plackett.measures.ranking import Ranking
from plackett.measures.swaps import linear_state

__all__ = ["DiscountedCumulativeGain"]


@dataclass(frozen=True, kw_only=True, repr=False)
class DiscountedCumulativeGain(Measure):
    r"""Discounted cumulative gain.

    .. math:: \text{DCG@}k = \sum_{r=1}^{k} G(l_r)\,\eta(r)

    where :math:`l_r` is the label at rank r, :math:`G(l) = 2^l - 1` and :math:`\eta(r) = 1/\log_2(1 + r)`. It grows
    with the number of documents; `plackett.measures.nDCG` divides it by the best possible value.

    Parameters
    ----------
    k, gain, discount
        As for `plackett.measures.nDCG`.

    Notes
    -----
    Ties: exact mean over all orders, each tied document having the mean gain of its block.

    References
    ----------
    Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM Transactions on Information Systems
    2002.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["DCG@3"]).mean["DCG@3"]
    1.5
    """

    name: ClassVar[str] = "DCG"
    aliases: ClassVar[tuple[str, ...]] = ("dcg", "discounted_cumulative_gain")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    k: int | None = None
    gain: Any = "exp2"
    discount: Any = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        weights = discount_table(self.discount, ranking.longest)
        best = ideal_dcg(ranking.data, self.gain, self.discount, self.k)
        return np.where(best > 0, discounted(ranking, position_gains(ranking, self.gain), weights, self.k), np.nan)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        weights = discount_table(self.discount, ranking.longest)
        return linear_state(ranking, position_gains(ranking, self.gain), 1.0, self.k or ranking.longest, weights)


DCG = DiscountedCumulativeGain()


def discounted(
    ranking: Ranking, gains: tuple[np.ndarray, np.ndarray], weights: np.ndarray, k: int | None
) -> np.ndarray:
    """Σ gain · weight over the first ``k`` ranks of each query, mean over the orders of ties."""
    return ranking.run(_discounted, *gains, weights, k or ranking.longest)


@kernel
def _discounted(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, values, table, weights, k, out
):
    for q in range(lo, hi):
        a = offsets[q]
        stop = a + min(k, depth[q])
        total = 0.0
        i = a
        while i < stop:
            end = tie_end[i]
            if end == i + 1:
                total += gain_at(values[i], table) * weights[i - a]
            else:  # each position has the mean gain of the block
                gain = 0.0
                weight = 0.0
                for j in range(i, end):
                    gain += gain_at(values[j], table)
                for j in range(i, min(end, stop)):
                    weight += weights[j - a]
                total += gain / (end - i) * weight
            i = end
        out[q] = total
