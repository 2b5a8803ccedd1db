"""Logistic pair loss weighted by the swap deltas of a fixed ranking."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.vector_math import exp, log1p
from plackett.losses.base import Loss, LossOnData
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.measures.swaps import n_layers, swaps_below


@kernel(fastmath=REASSOC)
def _against_lower(top, s, y, w, g, v, slope, bend):  # type: ignore[no-untyped-def]
    """Pairs of one document with those below it in the frozen ranking, without a branch; sums come back."""
    score, label, gain, discount, factor = top
    total = 0.0
    total_slope = 0.0
    total_bend = 0.0
    for j in range(s.size):
        size = abs(gain - g[j]) * abs(discount + v[j]) * factor * w[j]
        size = 0.0 if label == y[j] else size
        sign = 1.0 if label > y[j] else -1.0
        gap = sign * (score - s[j])
        e = exp(-abs(gap))
        p = 1.0 / (1.0 + e)
        doubt = e * p if gap > 0.0 else p
        push = size * sign * doubt
        curve = size * e * p * p
        total += size * (max(-gap, 0.0) + log1p(e))
        total_slope -= push
        total_bend += curve
        slope[j] += push
        bend[j] += curve
    return total, total_slope, total_bend


@kernel
def _frozen(lo, hi, offsets, scores, rows, state, labels, weight, query_weight, value, gradient, curvature):  # type: ignore[no-untyped-def]
    lane = lanes(7, longest(lo, hi, offsets))
    s, y, w, g, v, slope, bend = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5], lane[6]
    layered = n_layers(state) > 1
    for q in range(lo, hi):
        first = offsets[q]
        n = offsets[q + 1] - first
        for i in range(n):
            row = rows[first + i]
            s[i] = scores[row]
            y[i] = labels[row]
            w[i] = weight[row]
            g[i] = 0.0 if layered else state[first + i, 0]
            v[i] = state[first + i, 3]
            slope[i] = 0.0
            bend[i] = 0.0
        total = 0.0
        for i in range(n - 1):
            if w[i] > 0.0:
                top = (s[i], y[i], g[i], state[first + i, 2], state[first + i, 1] * w[i])
                r = slice(i + 1, n)
                if layered:  # then v holds the change itself, recomputed for each document
                    swaps_below(state, first + i, v[r])
                    top = (s[i], y[i], 1.0, 0.0, w[i])
                cost, push, curve = _against_lower(top, s[r], y[r], w[r], g[r], v[r], slope[r], bend[r])
                total += cost
                slope[i] += push
                bend[i] += curve
        value[q] = query_weight[q] * total
        for i in range(n):
            gradient[rows[first + i]] = query_weight[q] * slope[i]
            curvature[rows[first + i]] = query_weight[q] * bend[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class FrozenSwaps(Loss):
    r""":math:`\sum_{y_u > y_v} \omega_{uv} \log(1 + e^{-(s_u - s_v)})`, ω the swap deltas in the ranking by ``at``.

    Convex, as the weights do not change with the scores.

    Parameters
    ----------
    measure
        Any measure with a swap delta.
    at
        Scores that define the ranking: an array for one dataset, or a scorer for any.
    """

    name: ClassVar[str] = "FrozenSwaps"
    convex: ClassVar[bool] = True
    kernel = staticmethod(_frozen)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    measure: str = "nDCG"
    at: Any = field(default=None, compare=False)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The ranking that the dataset has now, and the state from which its swaps are computed."""
        data, measure = bound.data, parse(self.measure)
        if not measure.swaps:
            raise LossError(f"{measure} has no swap delta; try nDCG, AP, RR or ERR")
        at = self.at.predict(data.X, data.offsets, bound.n_jobs) if hasattr(self.at, "predict") else self.at
        ranking = Scored(data, bound.check(at), n_jobs=bound.n_jobs).ranking("stable")
        with np.errstate(over="ignore", invalid="ignore"):  # refused here
            state = np.ascontiguousarray(measure.swap_state(ranking))
        if not np.isfinite(state).all():
            raise LossError(
                f"{measure}: the gain of label {data.labels.max():g} is not finite; use a linear gain or smaller labels"
            )
        weight = np.where(data.labels >= 0, bound.sample_weight, 0.0)  # unjudged: in no pair
        return ranking.rows, state, data.labels, weight, bound.query_weight
