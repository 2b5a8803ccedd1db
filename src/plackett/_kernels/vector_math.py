"""`exp`, `log` and their relatives in plain arithmetic, so that loops over them use vector registers.

Numba calls the C library once per number for these functions, and a loop with a call in it is not vectorised. The
functions here are polynomials behind an exact reduction of the argument, without a branch or a table, and are inlined
into the kernel that calls them. NaN stays NaN. Where the true result would leave the range of normal numbers the
argument is clipped: an exponential is never 0 and never infinite. ``benchmarks/maths.py`` prints what they cost.

============== ===================== ============================================================
function       relative error below  clipped
============== ===================== ============================================================
``exp``        2e-16                 argument to −708..709: 3.3e-308..8.2e307
``sigmoid``    4e-16                 as ``exp``: 1.2e-308 at least, 1 above 37
``log``        3e-16                 arguments below 2.2e-308, 0 included, to −708.4
``log1p``      4e-16                 for arguments above −1 only
``softplus``   4e-16                 as ``exp``: 3.3e-308 at least
``exp32``      1e-7                  argument to −87..88: 1.6e-38..1.7e38
``sigmoid32``  2e-7                  as ``exp32``: 6e-39 at least, 1 above 17
============== ===================== ============================================================

The first five are for float64, the last two for float32. They are compiled without reassociation whatever the calling
kernel allows for its own sums, since the reductions rest on the order of operations.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel

#: Products and sums may be fused: more exact, and twice as fast.
_FUSED = frozenset({"contract"})

_LOG2E = 1.4426950408889634
# ln 2 in two parts; products of the first with whole numbers below 2^20 are exact
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT2 = 1.4142135623730951
_TINY = 2.2250738585072014e-308  # the smallest normal number

_ONE32 = np.float32(1.0)
_LOG2E32 = np.float32(1.4426950408889634)
_LN2_HIGH32 = np.float32(0.693359375)
_LN2_LOW32 = np.float32(-2.12194440e-4)


@kernel(inline=True, fastmath=_FUSED)
def exp(x):  # type: ignore[no-untyped-def]
    """e^x for float64: 2^k · e^r with |r| ≤ ln 2 / 2, e^r by its Taylor polynomial of degree 13."""
    x = -708.0 if x < -708.0 else (709.0 if x > 709.0 else x)
    k = np.rint(x * _LOG2E)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # by way of int32: converting to int64 is one instruction on the newest processors only
    return p * np.int64((np.int64(np.int32(k)) + 1023) << 52).view(np.float64)


@kernel(inline=True, fastmath=_FUSED)
def sigmoid(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e^−x) for float64."""
    return 1.0 / (1.0 + exp(-x))


@kernel(inline=True, fastmath=_FUSED)
def _log(k, f):  # type: ignore[no-untyped-def]
    """The logarithm of 2^k (1 + f), 1 + f in √½..√2: k ln 2 + 2 artanh(s) with s = f/(2 + f)."""
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    # 2s is f − s·f; f is exact, so the rounding of s touches only what is small beside it
    return k * _LN2_HIGH + (f - (s * (f - z * p) - k * _LN2_LOW))


@kernel(inline=True, fastmath=_FUSED)
def log(x):  # type: ignore[no-untyped-def]
    """Natural logarithm of a positive float64: x = 2^k m with m in √½..√2."""
    bits = np.float64(_TINY if x < _TINY else x).view(np.int64)
    k = np.float64(np.int32(bits >> 52) - 1023)
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    large = m > _SQRT2
    y = _log(k + 1.0 if large else k, (0.5 * m if large else m) - 1.0)
    return y if x < np.inf else x


@kernel(inline=True, fastmath=_FUSED)
def log1p(x):  # type: ignore[no-untyped-def]
    """log(1 + x) for float64 above −1: the logarithm of the rounded sum, and what the rounding lost."""
    u = 1.0 + x
    return log(u) + ((x - (u - 1.0)) / u if x < np.inf else 0.0)


@kernel(inline=True, fastmath=_FUSED)
def softplus(x):  # type: ignore[no-untyped-def]
    """log(1 + e^x) for float64: max(x, 0) + log(1 + e) with e = e^−|x|, at most 1 and so nearly reduced."""
    e = exp(-abs(x))
    large = e > _SQRT2 - 1.0
    return (x if x > 0.0 else 0.0) + _log(1.0 if large else 0.0, 0.5 * (e - 1.0) if large else e)


@kernel(inline=True, fastmath=_FUSED)
def exp32(x):  # type: ignore[no-untyped-def]
    """e^x for float32: as `exp`, with a polynomial of degree 7."""
    x = np.float32(-87.0) if x < np.float32(-87.0) else (np.float32(88.0) if x > np.float32(88.0) else x)
    k = np.rint(x * _LOG2E32)
    r = (x - k * _LN2_HIGH32) - k * _LN2_LOW32
    p = np.float32(1.0 / 5040.0)
    p = p * r + np.float32(1.0 / 720.0)
    p = p * r + np.float32(1.0 / 120.0)
    p = p * r + np.float32(1.0 / 24.0)
    p = p * r + np.float32(1.0 / 6.0)
    p = p * r + np.float32(0.5)
    p = p * r + _ONE32
    p = p * r + _ONE32
    return p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel(inline=True, fastmath=_FUSED)
def sigmoid32(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e^−x) for float32."""
    return _ONE32 / (_ONE32 + exp32(-x))
