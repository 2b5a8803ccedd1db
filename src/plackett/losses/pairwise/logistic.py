"""Logistic pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernel import REASSOC, kernel
from plackett._maths import exp, log, log1p
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Logistic"]


@kernel
def _phi(z, value, slope, curvature):  # type: ignore[no-untyped-def]
    for i in range(z.size):
        e = exp(-abs(z[i]))
        wrong = e / (1.0 + e) if z[i] >= 0.0 else 1.0 / (1.0 + e)
        value[i] = log1p(e) + max(-z[i], 0.0)
        slope[i] = -wrong
        curvature[i] = wrong * (1.0 - wrong)


@kernel(fastmath=REASSOC)
def _gradient(s, w, g, h, top, factor):  # type: ignore[no-untyped-def]
    """Pairs of one better document with worse ones: adds to their gradient, gives back the sums for the better one."""
    slope = 0.0
    bend = 0.0
    for v in range(s.size):
        right = 1.0 / (1.0 + exp(s[v] - top))
        term = w[v] * (1.0 - right)
        curve = term * right
        slope += term
        bend += curve
        g[v] += factor * term
        h[v] += factor * curve
    return slope, bend


@kernel(fastmath=REASSOC)
def _value(s, w, top):  # type: ignore[no-untyped-def]
    total = 0.0
    for v in range(s.size):
        x = s[v] - top
        total += w[v] * (log(1.0 + exp(x)) + (x - 708.0 if x > 708.0 else 0.0))  # `exp` is clipped there
    return total


@kernel
def _sweep(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, margin, order, below, judged, weight, scale, want_value, value, gradient, curvature
):
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, judged[q])
    s = np.empty(longest, np.float64)
    w = np.empty(longest, np.float64)
    g = np.empty(longest, np.float64)
    h = np.empty(longest, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        for i in range(n):
            s[i] = scores[order[a + i]]
            w[i] = weight[order[a + i]]
            g[i] = 0.0
            h[i] = 0.0
        total = 0.0
        for u in range(n):
            start = below[a + u]
            if start == n:
                break
            top = s[u] - margin
            slope, bend = _gradient(s[start:n], w[start:n], g[start:n], h[start:n], top, w[u])
            g[u] -= w[u] * slope
            h[u] += w[u] * bend
            if want_value:
                total += w[u] * _value(s[start:n], w[start:n], top)
        value[q] = scale[q] * total
        for i in range(n):
            gradient[order[a + i]] = scale[q] * g[i]
            curvature[order[a + i]] = scale[q] * h[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class Logistic(PairLoss):
    r"""Logistic pair loss :math:`\varphi(z) = \log(1 + e^{-(z - \text{margin})})`, the cross entropy of RankNet.

    All pairs are visited, but only numbers per document are kept. Divided by log 2 it bounds the share of misordered
    pairs.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.
    """

    name: ClassVar[str] = "Logistic"
    ids: ClassVar[tuple[str, ...]] = ("lecture.pairwise",)
    paper: ClassVar[str] = "Burges et al. 2005"
    convex: ClassVar[bool] = True
    sweep = staticmethod(_sweep)
    phi = staticmethod(_phi)
