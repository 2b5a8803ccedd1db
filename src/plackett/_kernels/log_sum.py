"""Sums of exponentials that grow by one term at a time, without overflow."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def add_exp(largest, total, x):
    """Add e^x to the sum ``total · e^largest``; the empty sum is -inf and 0."""
    if x <= largest:
        return largest, total + np.exp(x - largest)
    return x, total * np.exp(largest - x) + 1.0
