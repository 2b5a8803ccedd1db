"""Draws from a list of weights in constant time, whatever the weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import below
from plackett.data.mapped import row_array

_UNIT = 2.0**-32


class Alias(NamedTuple):
    """Each slot returns itself with some probability and another entry otherwise."""

    keep: np.ndarray
    other: np.ndarray


def alias_table(weights: np.ndarray, X: Any = None) -> Alias:
    """Table that draws entry i with probability ``weights[i] / weights.sum()``; empty where all weights are 0.

    Probabilities are exact up to 2^-32. The table is on disk if the features ``X`` are (`row_array`).

    >>> table = alias_table(np.array([1.0, 3.0]))
    >>> table.keep.tolist(), table.other.tolist()
    ([0.5, 1.0], [1, 1])

    References
    ----------
    Walker: An efficient method for generating discrete random variables with general distributions. 1977.
    Vose: A linear algorithm for generating random numbers with a given distribution. 1991.
    """
    total = float(weights.sum())
    if not total > 0.0:
        return Alias(np.empty(0), np.empty(0, np.int64))
    keep = np.multiply(weights, weights.size / total, out=row_array(X, weights.shape))
    other, low, high = (row_array(X, weights.shape, np.int64) for _ in range(3))
    other[1:] = 1
    np.cumsum(other, out=other)
    _level(keep, other, low, high)
    return Alias(keep, other)


@kernel
def _level(keep, other, low, high):
    """Fill up every slot below the mean from one above it, until all are level; ``low`` and ``high`` are scratch."""
    n = keep.size
    n_low = 0
    n_high = 0
    for i in range(n):
        if keep[i] < 1.0:
            low[n_low] = i
            n_low += 1
        else:
            high[n_high] = i
            n_high += 1
    while n_low > 0 and n_high > 0:
        n_low -= 1
        i = low[n_low]
        j = high[n_high - 1]
        other[i] = j
        keep[j] -= 1.0 - keep[i]
        if keep[j] < 1.0:
            n_high -= 1
            low[n_low] = j
            n_low += 1
    for k in range(n_low):  # rounding left these a little below 1 with nothing to fill them
        if keep[low[k]] > 0.0:
            keep[low[k]] = 1.0
            other[low[k]] = low[k]
    for k in range(n_high):
        keep[high[k]] = 1.0


@kernel(inline=True)
def draw_entry(bits, keep, other):
    """An entry, from 64 random bits."""
    i = below(bits, keep.size)
    if np.float64(bits >> np.uint64(32)) * _UNIT < keep[i]:
        return i
    return other[i]
