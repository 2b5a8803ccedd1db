"""Weights that may not be given."""

from __future__ import annotations

import numpy as np


def given_or_ones(weight: np.ndarray | None, n: int) -> np.ndarray:
    """The weights, or n ones where there are none.

    The ones are read-only, like the weights of a dataset: Numba would compile a kernel again for an array that can be
    written to.

    >>> given_or_ones(None, 2).tolist()
    [1.0, 1.0]
    """
    if weight is not None:
        return weight
    ones = np.ones(n)
    ones.flags.writeable = False
    return ones
