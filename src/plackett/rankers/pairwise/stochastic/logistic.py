"""Stochastic gradient of the logistic loss with an L2 penalty: logistic regression on pairs."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import NORM, PENALTY, move, take

#: e^700 is still finite.
_MOST = 700.0


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← (1 − ηλ) w + η x / (1 + e^z), z by how much the margin is exceeded."""
    return 1.0 - rate * settings[PENALTY], rate / (1.0 + np.exp(min(product - margin, _MOST)))


@kernel
def run(first, second, margin, values, columns, pointers, inverse, settings, v, u, numbers, example, indices, scratch):
    """A step for each example."""
    for i in range(first.size):
        n, product, square, rate = take(
            i, first, second, values, columns, pointers, inverse, settings, v, numbers, example, indices, scratch
        )
        shrink, add = step(product, margin[i], square, numbers[NORM], rate, settings)
        move(shrink, add, n, product, square, columns.size == 0, settings, v, u, numbers, example, indices)
