"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.base import Measure
from plackett.measures.dcg import discounted
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import count_relevant, hits, n_relevant, relevance, where_relevant
from plackett.measures.swaps import linear_state, new_state

__all__ = ["AveragePrecision"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AveragePrecision(Measure):
    r"""Average precision; its mean over queries is MAP.

    .. math:: \text{AP@}k = \frac1R \sum_{r=1}^{k} \text{P@}r \cdot [l_r \ge \text{rel}]

    where R counts all relevant documents of the query, including those below rank k and those not retrieved.

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest label that counts as relevant.
    over
        ``"relevant"``: precision is averaged over the ranks of relevant documents. ``"all"``: over every rank, as in
        Mohri, Rostamizadeh and Talwalkar's chapter on ranking: (1, 0, 1) has (1 + 1/2 + 2/3)/3, not (1 + 2/3)/2.
    divisor
        ``"relevant"``: R. ``"reachable"``: min(R, k), so that a perfect list has AP@k = 1 (LightGBM, XGBoost).
        Applies to ``over="relevant"``; with ``over="all"`` the divisor is the number of ranks.

    Notes
    -----
    Ties: exact mean over all orders. In a block of m documents, t of them relevant, below c relevant ones and
    p documents, the r-th position adds t/m · (c + 1 + (t − 1)(r − 1)/(m − 1))/(p + r) (McSherry and Najork 2008).

    References
    ----------
    Buckley, Voorhees: Evaluating evaluation measure stability. SIGIR 2000.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["AP", 'AP(over="all")']).mean
    {'AP': 0.8333333333333333, 'AP(over="all")': 0.7222222222222222}
    """

    name: ClassVar[str] = "AP"
    aliases: ClassVar[tuple[str, ...]] = ("MAP", "map", "map_cut", "average_precision", "mean_average_precision")
    swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0
    over: str = "relevant"
    divisor: str = "relevant"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(f"{self.name}: over", self.over, ("relevant", "all"), error=MeasureError)
        choice(f"{self.name}: divisor", self.divisor, ("relevant", "reachable"), error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        if self.over == "all":
            harmonic, n = self._every_rank(ranking)
            above = discounted(ranking, relevance(ranking, self.rel), harmonic, self.k)
            total = harmonic[n] * hits(ranking, self.rel, self.k) - above
            return where_relevant(ranking, self.rel, total / np.maximum(n, 1))
        return ranking.run(_ap, n_relevant(ranking, self.rel), self.rel, self._divisor(ranking), self._stop(ranking))

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        if self.over == "all":
            harmonic, n = self._every_rank(ranking)
            scale = 1.0 / np.maximum(n, 1)
            return linear_state(ranking, relevance(ranking, self.rel), scale, n, harmonic, harmonic[n])
        return ap_state(ranking, self.rel, self.k, self._divisor(ranking).astype(np.float64), new_state(ranking))

    def _stop(self, ranking: Ranking) -> int:
        return self.k or ranking.longest

    def _divisor(self, ranking: Ranking) -> np.ndarray:
        total = n_relevant(ranking, self.rel)
        return np.minimum(total, self._stop(ranking)) if self.divisor == "reachable" else total

    def _every_rank(self, ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
        """H_0, H_1, …: a relevant document at rank r is counted by P@r..P@n, by H_n − H_{r−1} in all; and n."""
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1.0, ranking.longest + 1.0))))
        return harmonic, np.minimum(ranking.depth, self._stop(ranking))


AP = AveragePrecision()


def ap_state(ranking: Ranking, rel: float, k: int | None, divisor: np.ndarray, state: np.ndarray) -> np.ndarray:
    """State for `plackett.measures.swaps.swap` of the sum of precisions over ``divisor[q]``, written into ``state``."""
    over_queries(
        _ap_state,
        ranking.offsets,
        ranking.labels,
        ranking.depth,
        rel,
        divisor,
        k or ranking.longest,
        state,
        n_jobs=ranking.n_jobs,
    )
    return state


@kernel
def _ap(lo, hi, offsets, labels, depth, tie_end, total, rel, divisor, k, out):
    for q in range(lo, hi):
        if total[q] == 0:
            out[q] = np.nan
            continue
        a = offsets[q]
        stop = a + min(k, depth[q])
        value = 0.0
        above = 0
        i = a
        while i < stop and above < total[q]:
            end = tie_end[i]
            if end == i + 1:
                hit = 1 if labels[i] >= rel else 0  # branchless: a branch here would be unpredictable
                above += hit
                value += hit * above / (end - a)
            else:
                inside = count_relevant(labels, i, end, rel)
                if inside > 0:
                    slope = (inside - 1) / (end - i - 1)
                    part = 0.0
                    for j in range(i, min(end, stop)):
                        part += (above + 1 + slope * (j - i)) / (j - a + 1)
                    value += part * inside / (end - i)
                above += inside
            i = end
        out[q] = value / divisor[q]


@kernel
def _ap_state(lo, hi, offsets, labels, depth, rel, divisor, k, state):
    # With c the relevant documents down to a rank and S the sum of 1/rank over them, moving a document down from i
    # to j loses its own precision c_i/i, gains c_j/j, and each relevant one between loses 1/rank; moving up is the
    # reverse.
    for q in range(lo, hi):
        a = offsets[q]
        stop = min(k, depth[q])
        scale = 1.0 / divisor[q] if divisor[q] > 0 else 0.0
        n_relevant = 0
        passed = 0.0
        for i in range(a, offsets[q + 1]):
            rank = i - a + 1
            relevant = 1 if labels[i] >= rel else 0
            n_relevant += relevant
            counts = 1.0 / rank if rank <= stop else 0.0
            state[i, 0] = relevant * scale
            state[i, 1] = 1.0
            state[i, 3] = passed - n_relevant * counts
            passed += relevant * counts
            state[i, 2] = (n_relevant + 1 - relevant) * counts - passed
