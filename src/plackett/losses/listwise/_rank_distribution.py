"""Distribution of a document's rank if each other document is ahead of it independently with some probability."""

from __future__ import annotations

import math

from plackett._kernels.kernel import REASSOC, kernel

_FAR = 9.0  # beyond this many standard deviations a chance is 0 or 1 to the last bit


@kernel
def pair_chances(s, variance, j, p, slope):
    """Chance that each document is ahead of j, and its derivative for that document's score; 0 for j itself."""
    for u in range(s.size):
        scale = 1.0 / math.sqrt(variance[u] + variance[j])
        z = (s[u] - s[j]) * scale
        if u == j or z < -_FAR:
            p[u] = 0.0
            slope[u] = 0.0
        elif z > _FAR:
            p[u] = 1.0
            slope[u] = 0.0
        else:
            p[u] = 0.5 * math.erfc(-z * math.sqrt(0.5))
            slope[u] = math.exp(-0.5 * z * z) * scale / math.sqrt(2.0 * math.pi)


@kernel(fastmath=REASSOC)
def _back(p, after, before):
    """Value of each count before one more document, from those after it."""
    for r in range(before.size):
        before[r] = after[r] + p * (after[r + 1] - after[r])


@kernel(fastmath=REASSOC)
def _forth(p, chance, n):
    """Chances of the counts 0..n−1 after one more document, in place."""
    for r in range(n - 1, 0, -1):
        chance[r] += p * (chance[r - 1] - chance[r])
    chance[0] -= p * chance[0]


@kernel(fastmath=REASSOC)
def _step(chance, after):
    """The change of each value from one more document ahead."""
    total = 0.0
    for r in range(chance.size):
        total += chance[r] * (after[r + 1] - after[r])
    return total


@kernel
def expectation(p, members, n, table, values, chance, slope):
    """E[table[number of ``members[:n]`` that are ahead]] and its slope for each p; chance[c] is that of count c after.

    Forward chances and backward values, n² steps: exact, and no division that could lose digits. ``values`` is scratch
    of (n + 1) × (n + 1) at least.
    """
    for r in range(n + 1):
        values[n, r] = table[r]
        chance[r] = 0.0
    for i in range(n - 1, -1, -1):
        _back(p[members[i]], values[i + 1, : i + 2], values[i, : i + 1])
    chance[0] = 1.0
    for i in range(n):
        slope[members[i]] = _step(chance[: i + 1], values[i + 1, : i + 2])
        _forth(p[members[i]], chance, i + 2)
    return values[0, 0]


@kernel
def normal_expectation(mean, variance, table, n):
    """E[table[N]] for a count N of up to n that is about normal, and its derivatives for mean and variance."""
    deviation = math.sqrt(variance + 1e-6)
    first = min(n, max(0, int(mean - _FAR * deviation)))
    last = max(first, min(n, int(mean + _FAR * deviation) + 1))
    value = table[last]  # counts beyond have no chance
    for_mean = 0.0
    for_variance = 0.0
    for r in range(first, last):
        z = (r + 0.5 - mean) / deviation
        drop = table[r] - table[r + 1]
        density = drop * math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * deviation)
        value += drop * 0.5 * math.erfc(-z * math.sqrt(0.5))
        for_mean -= density
        for_variance -= density * z / (2.0 * deviation)
    return value, for_mean, for_variance


@kernel(fastmath=REASSOC)
def add_pull(force, slope, g):
    """Add force · slope to the gradient; returns the sum, to be subtracted for the document itself."""
    total = 0.0
    for u in range(g.size):
        w = force[u] * slope[u]
        g[u] += w
        total += w
    return total
