"""Stochastic gradient of the logistic loss with an L2 penalty: logistic regression on pairs."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.rankers.pairwise.stochastic.descent import PENALTY

#: e^700 is still finite.
_MOST = 700.0


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """W ← (1 − ηλ) w + η x / (1 + e^z), z by how much the margin is exceeded."""
    return 1.0 - rate * settings[PENALTY], rate / (1.0 + np.exp(min(product - margin, _MOST)))
