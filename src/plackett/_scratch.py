"""Scratch of kernels: one array cut into lanes that lie apart.

A vectorised loop that writes to one array and reads others first looks whether they lie too close to each other, and if
so takes the plain loop instead, whose sums are rounded in another order. For short lists that would depend on where the
memory came from, and so on chance and on the number of threads. Lanes are always far enough apart.

    memory = np.empty(room(3, n), np.float64)
    s, w, g = lane(memory, 0, n), lane(memory, 1, n), lane(memory, 2, n)
"""

from __future__ import annotations

from plackett._kernel import kernel

__all__ = ["lane", "room"]

#: Numbers between two lanes and around them: more than any loop reads in one step.
_APART = 128


@kernel(inline=True)
def room(lanes, n):  # type: ignore[no-untyped-def]
    """Size of the array for so many lanes of n numbers."""
    return lanes * (n + _APART) + _APART


@kernel(inline=True)
def lane(memory, i, n):  # type: ignore[no-untyped-def]
    """Lane number i of n numbers."""
    start = i * (n + _APART) + _APART
    return memory[start : start + n]
