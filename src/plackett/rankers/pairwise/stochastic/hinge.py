"""Stochastic subgradient of the hinge with an L2 penalty: Pegasos (with the projection) and SGD-SVM (without)."""

from __future__ import annotations

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import NORM, PENALTY, move, take


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← (1 − ηλ) w, and + ηx where the margin is not reached."""
    return 1.0 - rate * settings[PENALTY], rate if product < margin else 0.0


@kernel
def run(first, second, margin, values, columns, pointers, inverse, settings, v, u, numbers, example, indices, scratch):
    """A step for each example."""
    for i in range(first.size):
        n, product, square, rate = take(
            i, first, second, values, columns, pointers, inverse, settings, v, numbers, example, indices, scratch
        )
        shrink, add = step(product, margin[i], square, numbers[NORM], rate, settings)
        move(shrink, add, n, product, square, columns.size == 0, settings, v, u, numbers, example, indices)
