"""ApproxNDCG: nDCG with smooth ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.vector_math import exp
from plackett.losses.base import Loss, LossOnData, finite_gains, gain_shares
from plackett.losses.listwise._smooth_ranks import next_ranks, pull, smooth_rank_far
from plackett.measures.gains import check_gain, ideal_dcg

__all__ = ["ApproxNDCGLoss"]

#: Up to this spread of αs within a query a product of two e^(αs) neither overflows nor vanishes.
_FAR = 600.0
_LN2 = 0.6931471805599453


@kernel(inline=True)
def _discounted(gain, rank):
    """The discounted gain at a rank, gain / log2(1 + rank), and its rate of decrease with the rank."""
    nats = np.log(1.0 + rank)
    part = gain * _LN2 / nats
    return part, part / (nats * (1.0 + rank))


@kernel
def _approx(lo, hi, offsets, scores, gains, query_weight, alpha, value, gradient):
    n_max = longest(lo, hi, offsets)
    lane = lanes(5, n_max)
    lane_s, lane_g, lane_power, lane_one, lane_two = lane[0], lane[1], lane[2], lane[3], lane[4]
    gainful = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        start = offsets[q]
        n = offsets[q + 1] - start
        s, g, power, ahead_one, ahead_two = lane_s[:n], lane_g[:n], lane_power[:n], lane_one[:n], lane_two[:n]
        m = 0
        low = np.inf
        high = -np.inf
        for i in range(n):
            s[i] = alpha * scores[start + i]
            g[i] = 0.0
            ahead_one[i] = 0.0
            ahead_two[i] = 0.0
            low = min(low, s[i])
            high = max(high, s[i])
            if gains[start + i] > 0.0:
                gainful[m] = i
                m += 1
        if m == 0:
            continue
        near = high - low <= _FAR
        middle = 0.5 * (low + high)
        for i in range(n):
            power[i] = exp(s[i] - middle)
        reached = 0.0
        i = j = 0
        slope_one = slope_two = 0.0
        for k in range(0, m, 2):
            next_i = gainful[k]
            next_j = gainful[min(k + 1, m - 1)]
            if near:
                one, two, back_one, back_two = next_ranks(
                    power, power[next_i], power[next_j], g, ahead_one, ahead_two, slope_one, slope_two
                )
            else:
                back_one, back_two = pull(g, ahead_one, ahead_two, slope_one, slope_two)
                one = smooth_rank_far(s, s[next_i], ahead_one)
                two = smooth_rank_far(s, s[next_j], ahead_two)
            # what a document counts as ahead of itself is in both terms, and cancels
            g[i] -= back_one
            g[j] -= back_two
            i, j = next_i, next_j
            gain_two = gains[start + j] if k + 1 < m else 0.0  # the last one of an odd number is its own partner
            part_one, slope_one = _discounted(gains[start + i], one)
            part_two, slope_two = _discounted(gain_two, two)
            reached += part_one + part_two
        back_one, back_two = pull(g, ahead_one, ahead_two, slope_one, slope_two)
        g[i] -= back_one
        g[j] -= back_two
        value[q] = query_weight[q] * (1.0 - reached)
        for i in range(n):
            gradient[start + i] = query_weight[q] * alpha * g[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class ApproxNDCGLoss(Loss):
    r"""One minus nDCG, with each rank replaced by a smooth one.

    .. math:: \hat\pi_j = 1 + \sum_{u \ne j} \frac{1}{1 + e^{\alpha (s_j - s_u)}}, \qquad
              L = 1 - \frac{1}{Z} \sum_j \frac{w_j G(y_j)}{\log_2(1 + \hat\pi_j)}

    where w is the sample weight and Z the largest DCG of the query. Equal scores share their mean rank. As α grows, the
    loss approaches 1 − nDCG and becomes harder to minimise. Unjudged documents have no gain but occupy ranks, as in
    nDCG. A query without a positive gain has loss 0.

    Parameters
    ----------
    alpha
        Steepness α of the smooth ranks.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.

    References
    ----------
    Qin, Liu, Li: A general approximation framework for direct optimization of information retrieval measures.
    Information Retrieval 2010.
    """

    name: ClassVar[str] = "ApproxNDCG"
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    _test_variants = ({"alpha": 10.0}, {"gain": "linear", "alpha": 0.1})
    kernel = staticmethod(_approx)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    alpha: float = 1.0
    gain: Any = "exp2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        number(f"{self.name}: alpha", self.alpha, above=0, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Gain of each document as a share of the best DCG of its query."""
        gains = finite_gains(bound.data.labels, self.gain, self.name)
        ideal = ideal_dcg(bound.data, self.gain, "log2", None)
        return gain_shares(bound, gains, ideal), bound.query_weight, self.alpha
