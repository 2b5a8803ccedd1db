"""Scratch of kernels: one block of memory cut into lanes that lie apart.

A vectorised loop that writes to one array and reads others first looks whether they lie too close to each other, and if
so takes the plain loop instead, whose sums are rounded in another order. For short lists that would depend on where the
memory came from, and so on chance and on the number of threads. Lanes are always far enough apart.

    lane = lanes(3, longest(lo, hi, offsets))
    s, w, g = lane[0], lane[1], lane[2]

Take lanes by their numbers: unpacking ``s, w, g = lanes(…)`` gives arrays that Numba does not know to be contiguous,
and loops over them take three times as long.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel

#: Numbers between two lanes and around them: more than any loop reads in one step.
_APART = 128


@kernel(inline=True)
def longest(lo, hi, offsets):
    """Length of the longest of some lists."""
    n = 0
    for q in range(lo, hi):
        n = max(n, offsets[q + 1] - offsets[q])
    return n


@kernel(inline=True)
def most(lo, hi, sizes):
    """Largest of some sizes, such as the numbers of judged documents."""
    n = 0
    for q in range(lo, hi):
        n = max(n, sizes[q])
    return n


@kernel(inline=True)
def lanes(count, n):
    """Lanes of at least n numbers each."""
    return np.empty((count + 1, n + _APART))[1:]  # the row before them keeps the first one apart as well


@kernel(inline=True)
def lanes32(count, n):
    """As `lanes`, in single precision."""
    return np.empty((count + 1, n + _APART), np.float32)[1:]
