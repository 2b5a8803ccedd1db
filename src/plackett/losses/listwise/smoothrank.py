"""SmoothRank: measures of a ranking in which each rank holds a little of every document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.sort import argsort_descending
from plackett._kernels.vector_math import exp
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.measures.gains import check_gain, discount_table, ideal_dcg

__all__ = ["SmoothRankLoss"]


def _ndcg_parts(data: RankingDataset, gains: np.ndarray, loss: SmoothRankLoss) -> tuple[np.ndarray, np.ndarray, bool]:
    return gains, ideal_dcg(data, loss.gain, "log2", None), False


def _ap_parts(data: RankingDataset, gains: np.ndarray, loss: SmoothRankLoss) -> tuple[np.ndarray, np.ndarray, bool]:
    relevant = (gains > 0).astype(float)
    return relevant, np.bincount(data.query_of_row, relevant, data.n_queries), True


#: The gain of a document, the best possible value, and whether precision is averaged.
_PARTS = {"nDCG": _ndcg_parts, "AP": _ap_parts}


@kernel(fastmath=REASSOC)
def _gain_at(s, gains, t, width):
    """Gain at the rank of score t, and the sum that makes the shares add up to 1."""
    total = 0.0
    gain = 0.0
    for j in range(s.size):
        h = exp(-width * (s[j] - t) * (s[j] - t))
        total += h
        gain += h * gains[j]
    return gain / total, total


@kernel(fastmath=REASSOC)
def _pull(s, gains, t, width, gain, force, g):
    """Add the gradient of force · total · gain at t for the scores; returns the one for t, negated."""
    total = 0.0
    for j in range(s.size):
        d = s[j] - t
        w = force * exp(-width * d * d) * (gains[j] - gain) * d
        g[j] += w
        total += w
    return total


@kernel
def _smoothrank(lo, hi, offsets, scores, gains, best, ranks, averages, query_weight, width, value, gradient):
    n_max = longest(lo, hi, offsets)
    lane = lanes(7, n_max)
    s, g, at, total, slope, keys, spare_keys = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5], lane[6]
    order = np.empty(n_max, np.int64)
    spare_rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        some = False
        for i in range(n):
            keys[i] = scores[a + i]
            s[i] = scores[a + i]
            g[i] = 0.0
            some |= gains[a + i] > 0.0
        if not some:
            continue
        argsort_descending(keys, order, spare_keys, spare_rows, n)
        x = gains[a : a + n]
        reached = 0.0
        above = 0.0
        for u in range(n):
            at[u], total[u] = _gain_at(s[:n], x, keys[u], width)
            factor = ranks[u] * (1.0 + above) if averages else ranks[u]
            reached += factor * at[u]
            slope[u] = factor
            above += at[u]
        if averages:  # each rank counts for the precision of those below it too
            later = 0.0
            for u in range(n - 1, -1, -1):
                slope[u] += later
                later += ranks[u] * at[u]
        start = 0
        while start < n:  # equal scores have no order: each has the mean of their slopes
            stop = start + 1
            mean = slope[start]
            while stop < n and keys[stop] == keys[start]:
                mean += slope[stop]
                stop += 1
            for u in range(start, stop):
                slope[u] = mean / (stop - start)
            start = stop
        for u in range(n):
            force = 2.0 * width * slope[u] / (total[u] * best[q])  # minus, as the loss falls; minus, from the square
            g[order[u]] -= _pull(s[:n], x, keys[u], width, at[u], force, g[:n])
        value[q] = query_weight[q] * (1.0 - reached / best[q])
        for i in range(n):
            gradient[a + i] = query_weight[q] * g[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class SmoothRankLoss(Loss):
    r"""One minus nDCG or average precision, with each rank shared by the documents whose scores are near.

    .. math:: h_{ju} = \frac{e^{-(s_j - s_{(u)})^2 / \sigma}}{\sum_i e^{-(s_i - s_{(u)})^2 / \sigma}}, \quad
              r_u = \sum_j G_j h_{ju}, \qquad L = 1 - \frac{1}{Z} \sum_u \eta(u)\, r_u

    with :math:`s_{(u)}` the u-th largest score; for AP :math:`\frac{1}{R} \sum_u \frac{r_u}{u} (1 + \sum_{v < u} r_v)`.
    As σ decreases, it approaches 1 − the measure; as σ grows, every rank has the mean gain. It is continuous, with
    kinks where two scores are equal (the gradient there is the mean of both sides). Train it with decreasing σ: see the
    ranker `plackett.SmoothRank`. Unjudged documents have no gain but take up ranks. A query without a positive gain has
    loss 0.

    Parameters
    ----------
    measure
        ``"nDCG"`` or ``"AP"``.
    sigma
        Width σ, in squared units of the scores.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain; for AP any positive gain is relevant.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(SmoothRankLoss()(np.zeros(2), data), 4)  # 1 − ½ (1 + 1/log2 3)
    0.1845

    References
    ----------
    Chapelle, Wu: Gradient descent optimization of smoothed information retrieval metrics. Information Retrieval 2010.
    """

    name: ClassVar[str] = "SmoothRank"
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"sigma": 0.05}, {"measure": "AP", "sigma": 3.0}, {"gain": "linear"})
    kernel = staticmethod(_smoothrank)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    measure: str = "nDCG"
    sigma: float = 1.0
    gain: Any = "exp2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        choice(f"{self.name}: measure", self.measure, _PARTS, error=LossError)
        number(f"{self.name}: sigma", self.sigma, above=0, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Gains, the best value of each query, and the weight of each rank."""
        data = bound.data
        gains, best, averages = _PARTS[self.measure](data, finite_gains(data.labels, self.gain, self.name), self)
        ranks = discount_table("reciprocal" if averages else "log2", int(data.group.max(initial=1)))
        return gains * bound.sample_weight, best, ranks, averages, bound.query_weight, 1.0 / self.sigma
