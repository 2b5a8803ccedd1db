"""The perceptron with a margin."""

from __future__ import annotations

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← w + ηx where the margin is not exceeded."""
    return 1.0, rate if product <= margin else 0.0
