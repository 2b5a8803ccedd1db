"""Relaxed online maximum margin: the shortest weights that satisfy the example and a half-space of the old ones."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import NORM, move, take


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """The least |w'| with w'·x ≥ margin and w'·w ≥ |w|², where the margin is not reached (aggressive ROMMA)."""
    if product >= margin or square == 0.0:
        return 1.0, 0.0
    area = square * norm - product * product
    if area <= 1e-12 * square * norm:  # parallel: the example alone decides
        return 0.0, margin / square
    return (square * norm - margin * product) / area, norm * (margin - product) / area


@kernel
def run(first, second, margin, values, columns, pointers, inverse, settings, v, u, numbers, example, indices, scratch):
    """A step for each example."""
    for i in range(first.size):
        n, product, square, rate = take(
            i, first, second, values, columns, pointers, inverse, settings, v, numbers, example, indices, scratch
        )
        shrink, add = step(product, margin[i], square, numbers[NORM], rate, settings)
        move(shrink, add, n, product, square, columns.size == 0, settings, v, u, numbers, example, indices)
