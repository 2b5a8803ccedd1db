"""Exponential pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Exponential"]

#: Scores further than this from the middle of their query are moved to it, so that no exponential overflows.
CLIP = 300.0


@kernel
def _phi(z, value, slope, curvature):
    for i in range(z.size):
        value[i] = np.exp(-max(z[i], -2.0 * CLIP))
        slope[i] = -value[i]
        curvature[i] = value[i]


@kernel
def middle_score(scores, rows):
    """Middle between the lowest and the highest score of some rows."""
    low = np.inf
    high = -np.inf
    for row in rows:
        low = min(low, scores[row])
        high = max(high, scores[row])
    return 0.5 * (low + high)


@kernel
def _sweep(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):
    order, below, judged, _, weight, scale = pairs
    # exp(-(s_u - s_v)) is a product, so running sums over the label order give all pairs in linear time
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        middle = middle_score(scores, order[a : a + n])
        shift = np.exp(shape[0])
        end = n
        total = 0.0
        lower = 0.0
        for i in range(n - 1, -1, -1):
            while end > below[a + i]:
                end -= 1
                v = order[a + end]
                lower += weight[v] * np.exp(min(max(scores[v] - middle, -CLIP), CLIP))
            u = order[a + i]
            term = shift * scale[q] * weight[u] * np.exp(-min(max(scores[u] - middle, -CLIP), CLIP)) * lower
            total += term
            gradient[u] -= term
            curvature[u] += term
        upper = 0.0
        start = 0
        for i in range(n):
            while start < n and below[a + start] <= i:
                u = order[a + start]
                upper += weight[u] * np.exp(-min(max(scores[u] - middle, -CLIP), CLIP))
                start += 1
            v = order[a + i]
            term = shift * scale[q] * weight[v] * np.exp(min(max(scores[v] - middle, -CLIP), CLIP)) * upper
            gradient[v] += term
            curvature[v] += term
        value[q] = total


@dataclass(frozen=True, kw_only=True, repr=False)
class Exponential(PairLoss):
    r"""Exponential pair loss :math:`\varphi(z) = e^{-(z - \text{margin})}`, the loss of RankBoost.

    Computed in linear time after one sort by label. Scores further than 300 from the middle of their query count as
    300 away, so that the loss stays finite.

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.
    """

    name: ClassVar[str] = "Exponential"
    convex: ClassVar[bool] = True
    clipped: ClassVar[bool] = True
    _test_variants = ({"margin": 0.7}, {"normalize": True})
    kernel = staticmethod(_sweep)
    phi = staticmethod(_phi)
