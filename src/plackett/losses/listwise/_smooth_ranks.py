"""Smooth ranks: the kernels of the losses in which 1/(1 + e^(α(s_j − s_u))) says how far u is ahead of j.

`rank_sweep` makes the kernel of a loss that is any function of the smooth ranks of some documents of a list; the loss
supplies only its formula. ApproxNDCG is a sum over documents and has a faster form that takes two documents at a time
(`next_ranks`).

Two losses with similar names do not use smooth ranks and have their own kernels. SmoothRank keeps the ranks and smooths
which document is at each rank, with Gaussian weights that add up to 1 over the list. SoftRank takes expectations over
the whole distribution of a rank, instead of a function of its mean (`_rank_distribution`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import REASSOC, kernel, kernel_from, template
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.vector_math import exp


@kernel(fastmath=REASSOC)
def smooth_rank(s, own):  # type: ignore[no-untyped-def]
    """1 + Σ over the others of 1/(1 + e^(own − s)), the document itself being among s."""
    rank = 0.5
    for u in range(s.size):
        rank += 1.0 / (1.0 + exp(own - s[u]))
    return rank


@kernel(fastmath=REASSOC)
def to_scores(s, own, slope, g):  # type: ignore[no-untyped-def]
    """Add the gradient of slope · smooth rank by the scores; returns what to subtract for the document itself."""
    total = 0.0
    for u in range(s.size):
        t = 1.0 / (1.0 + exp(own - s[u]))
        w = slope * t * (1.0 - t)
        g[u] += w
        total += w
    return total


# ------------------------------------------------------------------------------------- any function of the smooth ranks


@template
def _terms(q, a, m, rows, rank, slope, spare, own, beta):  # type: ignore[no-untyped-def]
    """Stands for the formula of a loss: the measure reached by m documents with these ranks.

    Document ``rows[j]`` of the query that starts at row a has ``rank[j]``. Adds the derivatives to ``slope``; ``spare``
    is scratch.
    """
    raise NotImplementedError


def _sweep(lo, hi, offsets, scores, worth, own, query_weight, alpha, beta, value, gradient):  # type: ignore[no-untyped-def]
    """Loss of each query and gradient of each score; ranks are computed only for documents that contribute."""
    n_max = longest(lo, hi, offsets)
    lane = lanes(5, n_max)
    s, g, rank, slope, spare = lane[0], lane[1], lane[2], lane[3], lane[4]
    rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        m = 0
        for i in range(n):
            s[i] = alpha * scores[a + i]
            g[i] = 0.0
            if worth[a + i] > 0.0:
                rows[m] = i
                m += 1
        if m == 0:
            continue
        for j in range(m):
            rank[j] = smooth_rank(s[:n], s[rows[j]])
            slope[j] = 0.0
        reached = _terms(q, a, m, rows, rank, slope, spare, own, beta)
        for j in range(m):
            total = to_scores(s[:n], s[rows[j]], -slope[j], g[:n])  # what j counts as ahead of itself cancels
            g[rows[j]] -= total
        value[q] = query_weight[q] * (1.0 - reached)
        for i in range(n):
            gradient[a + i] = query_weight[q] * alpha * g[i]


def rank_sweep(terms: Any) -> Any:
    """The sweep of a loss with this formula, an inline kernel with the arguments of `_terms`."""
    return kernel_from(_sweep, _terms=terms)


# ---------------------------------------------------------------------------------------------------- two at a time


@kernel(fastmath=REASSOC)
def next_ranks(power, one, two, g, ahead_one, ahead_two, slope_one, slope_two):  # type: ignore[no-untyped-def]
    """What `pull` does for two documents, and then, in the same pass, the smooth ranks of the next two from e^(αs).

    ``ahead[u]`` is how much u counts as ahead of each; the old values are read, the new ones written. Two at a time,
    since the two quotients x/a and x/b cost one division: q = x/(ab), qb and qa; in one pass with the pull, whose
    products fill the time that the division takes.
    """
    rank_one = 0.5  # 1, less the half that the document counts as ahead of itself
    rank_two = 0.5
    back_one = 0.0
    back_two = 0.0
    for u in range(power.size):
        to_one = slope_one * ahead_one[u] * (1.0 - ahead_one[u])
        to_two = slope_two * ahead_two[u] * (1.0 - ahead_two[u])
        g[u] += to_one + to_two
        back_one += to_one
        back_two += to_two
        a = power[u] + one
        b = power[u] + two
        q = power[u] / (a * b)
        ahead_one[u] = q * b
        ahead_two[u] = q * a
        rank_one += q * b
        rank_two += q * a
    return rank_one, rank_two, back_one, back_two


@kernel(fastmath=REASSOC)
def smooth_rank_far(s, own, ahead):  # type: ignore[no-untyped-def]
    """Smooth rank of one document, for scores so far apart that e^(αs) would overflow."""
    rank = 0.5
    for u in range(s.size):
        t = 1.0 / (1.0 + exp(own - s[u]))
        ahead[u] = t
        rank += t
    return rank


@kernel(fastmath=REASSOC)
def pull(g, ahead_one, ahead_two, slope_one, slope_two):  # type: ignore[no-untyped-def]
    """Gradient of slope · rank of two documents for the others; returns the sums to subtract for these two."""
    one = 0.0
    two = 0.0
    for u in range(g.size):
        to_one = slope_one * ahead_one[u] * (1.0 - ahead_one[u])
        to_two = slope_two * ahead_two[u] * (1.0 - ahead_two[u])
        g[u] += to_one + to_two
        one += to_one
        two += to_two
    return one, two
