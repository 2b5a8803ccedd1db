"""Mean of nDCG over all cut-offs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.base import Measure
from plackett.measures.gains import (
    check_discount,
    check_gain,
    discount_table,
    gain_at,
    gains_of,
    ideal_gains,
    position_gains,
)
from plackett.measures.ranking import Ranking
from plackett.measures.swaps import new_state

__all__ = ["MeanOfNDCG"]


@dataclass(frozen=True, kw_only=True, repr=False)
class MeanOfNDCG(Measure):
    r"""Mean of nDCG over all cut-offs, as the LETOR 4.0 script reports it.

    .. math:: \text{MeanNDCG} = \frac1n \sum_{k=1}^{n} \text{nDCG@}k

    for a query of n documents.

    Parameters
    ----------
    gain, discount
        As for `plackett.measures.nDCG`.

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Qin, Liu: Introducing LETOR 4.0 datasets. arXiv 2013.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1], [2, 1], ['MeanNDCG(discount="letor")']).mean
    {'MeanNDCG(discount="letor")': 0.5}
    """

    name: ClassVar[str] = "MeanNDCG"
    aliases: ClassVar[tuple[str, ...]] = ("meanNDCG", "mean_ndcg")
    swaps: ClassVar[bool] = True
    linear_swaps: ClassVar[bool] = True

    gain: Any = "exp2"
    discount: Any = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return ranking.run(_mean_ndcg, *self._arrays(ranking))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        state = new_state(ranking)
        over_queries(_state, ranking.offsets, ranking.depth, *self._arrays(ranking), state, n_jobs=ranking.n_jobs)
        return state

    def _arrays(self, ranking: Ranking) -> tuple[np.ndarray, ...]:
        values, table = position_gains(ranking, self.gain)
        if table.size and isinstance(self.gain, str):
            ideal = ranking.data.sorted_labels
        else:
            ideal = ranking.data.memo.setdefault(("ideal gains", self.gain), ideal_gains(ranking.data, self.gain))
            values, table = ranking.once(("gains", self.gain), lambda: gains_of(ranking.labels, self.gain)), np.empty(0)
        return values, table, ideal, discount_table(self.discount, ranking.longest)


MeanNDCG = MeanOfNDCG()


@kernel
def _mean_ndcg(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, values, table, ideal, discount, out
):
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        best = 0.0
        dcg = 0.0
        total = 0.0
        gain = 0.0
        end = a
        for i in range(a, b):
            if i == end and i < a + depth[q]:  # a new block: each of its positions has the mean gain
                end = tie_end[i]
                gain = 0.0
                for j in range(i, end):
                    gain += gain_at(values[j], table)
                gain /= end - i
            elif i >= a + depth[q]:
                gain = 0.0
            best += gain_at(ideal[i], table) * discount[i - a]
            dcg += gain * discount[i - a]
            if best > 0.0:
                total += dcg / best
        out[q] = total / (b - a) if best > 0.0 else np.nan


@kernel
def _state(lo, hi, offsets, depth, values, table, ideal, discount, state):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        best = 0.0
        for i in range(a, b):
            best += gain_at(ideal[i], table) * discount[i - a]
            state[i, 2] = 1.0 / best if best > 0.0 else 0.0
        share = 0.0  # a document at rank r counts in nDCG@r..nDCG@n, with 1/best of each
        for i in range(b - 1, a - 1, -1):
            share += state[i, 2]
            weight = share * discount[i - a] / (b - a) if i < a + depth[q] else 0.0
            state[i, 0] = gain_at(values[i], table)
            state[i, 1] = 1.0
            state[i, 2] = weight
            state[i, 3] = -weight
