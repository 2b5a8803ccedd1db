"""Slope of a pair loss over the pairs that a weak ranker orders correctly and wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.losses.pairwise.fidelity import fidelity_phi
from plackett.losses.pairwise.rows import Pairs, gaps, gather, row_for


def right_and_wrong_slope(bound: Any, scores: np.ndarray, h: np.ndarray) -> tuple[float, float]:
    r"""Slope of the fidelity loss over the pairs that h orders correctly and wrongly.

    .. math:: W_\pm = \sum_{(u, v)} w_{uv}\, |\varphi'(s_u - s_v)|\, [\pm (h(u) - h(v))]_+

    Parameters
    ----------
    bound
        The fidelity loss on a dataset, which provides the pairs and weights.
    scores
        The scores s.
    h
        The value of the weak ranker for each document, between 0 and 1.
    """
    shape = bound.loss.shape
    if bound.data.preferences is None:
        totals = np.zeros((2, bound.data.n_queries))
        over_queries(
            _right_and_wrong,
            bound.data.offsets,
            scores,
            h,
            *bound.constants,
            totals,
            n_jobs=bound.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return float(totals[0].sum()), float(totals[1].sum())
    winner, loser = bound.winner, bound.loser
    value, slope, bend = (np.empty(winner.size) for _ in range(3))
    fidelity_phi(scores[winner] - scores[loser] - bound.margin, value, slope, bend, *shape)
    weight, difference = -slope * bound.weight, h[winner] - h[loser]
    return float(weight @ np.maximum(difference, 0.0)), float(weight @ np.maximum(-difference, 0.0))


@kernel
def _right_and_wrong(lo, hi, offsets, scores, h, documents, shape, totals):
    margin, target = shape
    pairs = Pairs(documents[0], documents[1], documents[2], documents[3], documents[4], documents[5])
    order, below, scale = pairs.order, pairs.below, pairs.scale
    row = row_for(lo, hi, pairs.judged)
    for q in range(lo, hi):
        a = offsets[q]
        n = gather(q, offsets, scores, pairs, row)
        right = 0.0
        wrong = 0.0
        for u in range(n):
            start = below[a + u]
            z, f, d, c = gaps(row, u, start, n, margin)
            fidelity_phi(z, f, d, c, target)
            high = h[order[a + u]]
            for v in range(start, n):
                difference = high - h[order[a + v]]
                part = -row.weight[u] * row.weight[v] * d[v - start]
                right += part * max(difference, 0.0)
                wrong += part * max(-difference, 0.0)
        totals[0, q] = scale[q] * right
        totals[1, q] = scale[q] * wrong
