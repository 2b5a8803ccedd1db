"""Logistic pair loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett._kernels.scratch import lanes, most
from plackett._kernels.vector_math import exp, log, log1p
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.losses.base import DeviceForm, LossOnData
from plackett.losses.pairwise.base import PairLoss, label_order

__all__ = ["Logistic"]

#: Up to this spread of the scores of a query a product of two e^s neither overflows nor vanishes.
_FAR = 600.0
#: A product of twice as many factors of ½ or more does not vanish.
_FACTORS = 500


@kernel
def _phi(z, value, slope, curvature):  # type: ignore[no-untyped-def]
    for i in range(z.size):
        e = exp(-abs(z[i]))
        wrong = e / (1.0 + e) if z[i] >= 0.0 else 1.0 / (1.0 + e)
        value[i] = log1p(e) + max(-z[i], 0.0)
        slope[i] = -wrong
        curvature[i] = wrong * (1.0 - wrong)


@kernel(fastmath=REASSOC)
def _against(power, s, w, g, h, sure, top_power, top, factor):  # type: ignore[no-untyped-def]
    """Pairs of one better document with worse ones, from e^s: no exponential per pair, only a quotient.

    Adds to the gradient of the worse ones and returns the sums for the better one, Σ max(−z, 0) and the product of
    1/(1 + e^−|z|), whose logarithm is the rest of the value.
    """
    slope = 0.0
    bend = 0.0
    behind = 0.0
    for v in range(power.size):
        part = 1.0 / (top_power + power[v])
        wrong = power[v] * part
        right = top_power * part
        term = w[v] * wrong
        curve = term * right
        slope += term
        bend += curve
        g[v] += factor * term
        h[v] += factor * curve
        sure *= right if right > wrong else wrong
        behind += s[v] - top if s[v] > top else 0.0
    return slope, bend, behind, sure


@kernel(fastmath=REASSOC)
def _against_far(s, w, g, h, sure, top, factor):  # type: ignore[no-untyped-def]
    """As `_against`, for scores so far apart that e^s would overflow."""
    slope = 0.0
    bend = 0.0
    behind = 0.0
    for v in range(s.size):
        x = s[v] - top
        e = exp(-abs(x))
        part = 1.0 / (1.0 + e)
        wrong = part if x > 0.0 else e * part
        term = w[v] * wrong
        curve = term * (e * part if x > 0.0 else part)
        slope += term
        bend += curve
        g[v] += factor * term
        h[v] += factor * curve
        sure *= part
        behind += x if x > 0.0 else 0.0
    return slope, bend, behind, sure


@kernel(fastmath=REASSOC)
def _weighted_value(s, w, top):  # type: ignore[no-untyped-def]
    """Value of the same pairs where weights differ: a logarithm each."""
    total = 0.0
    for v in range(s.size):
        x = s[v] - top
        total += w[v] * (log(1.0 + exp(-abs(x))) + (x if x > 0.0 else 0.0))
    return total


@kernel
def _sweep(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):  # type: ignore[no-untyped-def]
    order, below, judged, labels, weight, scale = pairs
    margin, graded = shape
    lane = lanes(7, most(lo, hi, judged))
    s, w, power, g, h = lane[0], lane[1], lane[2], lane[3], lane[4]
    y, partner = lane[5], lane[6]  # label of a document; its weight in the pairs with a better one
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue  # one label only: no pairs
        low = np.inf
        high = -np.inf
        even = not graded
        for i in range(n):
            s[i] = scores[order[a + i]]
            w[i] = weight[order[a + i]]
            y[i] = labels[order[a + i]]
            partner[i] = w[i]
            g[i] = 0.0
            h[i] = 0.0
            low = min(low, s[i])
            high = max(high, s[i])
            even &= w[i] == w[0]
        near = high - low + 2.0 * abs(margin) <= _FAR
        middle = 0.5 * (low + high)
        for i in range(n):
            power[i] = exp(s[i] - middle)
        shift = exp(-margin)
        total = 0.0
        sure = 1.0
        factors = 0
        for u in range(n):
            if below[a + u] == n:
                break
            top = s[u] - margin
            if graded:
                for v in range(below[a + u], n):
                    partner[v] = w[v] * (y[u] - y[v])
            for start in range(below[a + u], n, _FACTORS):
                r = slice(start, min(start + _FACTORS, n))
                if near:
                    slope, bend, behind, sure = _against(
                        power[r], s[r], partner[r], g[r], h[r], sure, power[u] * shift, top, w[u]
                    )
                else:
                    slope, bend, behind, sure = _against_far(s[r], partner[r], g[r], h[r], sure, top, w[u])
                g[u] -= w[u] * slope
                h[u] += w[u] * bend
                if even:
                    total += behind
                    factors += r.stop - r.start
                    if factors > _FACTORS:
                        total -= np.log(sure)
                        sure = 1.0
                        factors = 0
                else:
                    sure = 1.0
                    if want_value:
                        total += w[u] * _weighted_value(s[r], partner[r], top)
        if want_value:
            value[q] = scale[q] * (w[0] * w[0] * (total - np.log(sure)) if even else total)
        for i in range(n):
            gradient[order[a + i]] = scale[q] * g[i]
            curvature[order[a + i]] = scale[q] * h[i]


@kernel
def _graded_weight(lo, hi, offsets, order, judged, labels, weight, out):  # type: ignore[no-untyped-def]
    """Weight of all pairs of each query, each times the difference of its labels."""
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        lower = 0.0  # weight of the documents that come later
        gap = 0.0  # the same, each times how far its label is below that of the document
        for i in range(judged[q] - 1, -1, -1):
            row = order[a + i]
            if i < judged[q] - 1:
                gap += lower * (labels[row] - labels[order[a + i + 1]])
            total += weight[row] * gap
            lower += weight[row]
        out[q] = total


@dataclass(frozen=True, kw_only=True, repr=False)
class Logistic(PairLoss):
    r"""Logistic pair loss :math:`\varphi(z) = \log(1 + e^{-(z - \text{margin})})`, the cross entropy of RankNet.

    All pairs are visited, but only numbers per document are kept, and exponentials are taken per document: a pair costs
    a quotient. Divided by log 2 it bounds the number of misordered pairs.

    Parameters
    ----------
    margin, normalize
        As for all pair losses.
    graded
        Multiply the weight of a pair by the difference of its two labels, so that a document of grade 3 below one of
        grade 0 costs three times as much as one of grade 1. Explicit preferences keep their weights.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.
    """

    name: ClassVar[str] = "Logistic"
    convex: ClassVar[bool] = True
    _test_variants = ({"margin": 0.7}, {"normalize": True}, {"graded": True}, {"graded": True, "normalize": True})
    kernel = staticmethod(_sweep)
    phi = staticmethod(_phi)
    device_slope = staticmethod(lambda torch, z: z.neg().sigmoid_().neg_())

    graded: bool = False

    def pair_weight(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """Weight of all pairs of each query, by which ``normalize`` divides."""
        if not self.graded or data.preferences is not None:
            return super().pair_weight(data, n_jobs)
        total = np.empty(data.n_queries)
        order, _, judged = label_order(data, n_jobs)
        weight = given_or_ones(data.sample_weight, data.n_rows)
        over_queries(_graded_weight, data.offsets, order, judged, data.labels, weight, total, n_jobs=n_jobs)
        return total

    @property
    def numbers(self) -> tuple[float, ...]:
        """What the kernel reads of the parameters."""
        return float(self.margin), self.graded

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """How an accelerator computes the gradient."""
        form = super().device_form(bound)
        if form is None or not self.graded:
            return form
        labels, query = bound.data.labels, bound.data.query_of_row
        judged = labels >= 0
        lowest, highest = np.full(bound.data.n_queries, np.inf), np.zeros(bound.data.n_queries)
        np.minimum.at(lowest, query[judged], labels[judged])
        np.maximum.at(highest, query[judged], labels[judged])
        apart = np.where(highest > lowest, highest - lowest, 1.0)
        # from 0 to 1 in each query: float32 keeps more digits of that, and it cannot overflow
        levels = np.where(judged, (labels - lowest[query]) / apart[query], np.nan)
        gradient = partial(form.gradient, graded=True)
        return replace(form, gradient=gradient, per_row=self._per_row(bound, levels), scale=form.scale * apart)
