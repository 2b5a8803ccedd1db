"""Passive-aggressive steps: the smallest step that makes the example right, at most C."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import EXTRA


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← w + min(C, hinge / |x|²) x: the nearest weights that reach the margin."""
    if product >= margin or square == 0.0:
        return 1.0, 0.0
    return 1.0, min(settings[EXTRA], (margin - product) / square)
