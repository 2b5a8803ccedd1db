"""Smooth ranks of some documents of a list, and the way back from a gradient for ranks to one for scores."""

from __future__ import annotations

from plackett._kernel import REASSOC, kernel
from plackett._vector_math import exp

__all__ = ["smooth_rank", "to_scores"]


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
