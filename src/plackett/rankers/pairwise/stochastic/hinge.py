"""Stochastic subgradient of the hinge with an L2 penalty: Pegasos (with the projection) and SGD-SVM (without)."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import PENALTY


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← (1 − ηλ) w, and + ηx where the margin is not reached."""
    return 1.0 - rate * settings[PENALTY], rate if product < margin else 0.0
