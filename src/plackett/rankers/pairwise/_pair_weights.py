"""Exponential weight of the pairs that a weak ranker orders correctly and wrongly, without listing pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.losses.pairwise.exponential import CLIP, middle_score


def right_and_wrong_weight(bound: Any, scores: np.ndarray, h: np.ndarray) -> tuple[float, float]:
    r"""Weight of the pairs that h orders correctly and wrongly, for h equal to 0 or 1.

    .. math:: W_\pm = \sum_{(u, v)} w_{uv}\, e^{-(s_u - s_v)}\, [h(u) - h(v) = \pm 1]

    Parameters
    ----------
    bound
        The exponential pair loss on a dataset, which provides the pairs and weights.
    scores
        The scores s.
    h
        0 or 1 for each document.
    """
    if bound.data.preferences is None:
        totals = np.zeros((2, bound.data.n_queries))
        over_queries(
            _right_and_wrong,
            bound.data.offsets,
            scores,
            h,
            bound.constants[0],
            totals,
            n_jobs=bound.n_jobs,
        )
        return float(totals[0].sum()), float(totals[1].sum())
    winner, loser = bound.winner, bound.loser
    weight = bound.weight * np.exp(np.minimum(scores[loser] - scores[winner] + bound.margin, 2.0 * CLIP))
    difference = h[winner] - h[loser]
    return float(weight[difference > 0].sum()), float(weight[difference < 0].sum())


@kernel
def _right_and_wrong(lo, hi, offsets, scores, h, pairs, totals):
    order, below, judged, _, weight, scale = pairs
    # the weights are products, as in the exponential loss: two running sums, of the documents of h = 0 and of h = 1
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        if n == 0 or below[a] == n:
            continue
        middle = middle_score(scores, order[a : a + n])
        end = n
        lower_0 = 0.0
        lower_1 = 0.0
        right = 0.0
        wrong = 0.0
        for i in range(n - 1, -1, -1):
            while end > below[a + i]:
                end -= 1
                v = order[a + end]
                power = weight[v] * np.exp(min(max(scores[v] - middle, -CLIP), CLIP))
                if h[v] > 0.5:
                    lower_1 += power
                else:
                    lower_0 += power
            u = order[a + i]
            power = scale[q] * weight[u] * np.exp(-min(max(scores[u] - middle, -CLIP), CLIP))
            if h[u] > 0.5:
                right += power * lower_0
            else:
                wrong += power * lower_1
        totals[0, q] = right
        totals[1, q] = wrong
