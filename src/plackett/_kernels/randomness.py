"""Random numbers inside kernels: a hash of a counter, so that a draw depends on its number and not on threads."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel
def mix(x):
    """SplitMix64: 64 well-mixed bits of a 64-bit number."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def below(bits, n):
    """Whole number in 0..n − 1 from the low 32 of some random bits; the bias is below n / 2^32."""
    return np.int64(((bits & np.uint64(0xFFFFFFFF)) * np.uint64(n)) >> np.uint64(32))
