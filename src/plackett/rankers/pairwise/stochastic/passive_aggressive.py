"""Passive-aggressive steps: the smallest step that makes the example right, at most C."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import EXTRA, NORM, move, take


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← w + min(C, hinge / |x|²) x: the nearest weights that reach the margin."""
    if product >= margin or square == 0.0:
        return 1.0, 0.0
    return 1.0, min(settings[EXTRA], (margin - product) / square)


@kernel
def run(first, second, margin, values, columns, pointers, inverse, settings, v, u, numbers, example, indices, scratch):
    """A step for each example."""
    for i in range(first.size):
        n, product, square, rate = take(
            i, first, second, values, columns, pointers, inverse, settings, v, numbers, example, indices, scratch
        )
        shrink, add = step(product, margin[i], square, numbers[NORM], rate, settings)
        move(shrink, add, n, product, square, columns.size == 0, settings, v, u, numbers, example, indices)
