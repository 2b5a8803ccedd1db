"""Write single-precision numbers as short decimal text that reads back as the same number."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor.floats import NONE, POWERS, decimal

#: Bytes that a number takes at most.
LONGEST = 24

_U = np.uint64
_0, _10, _ZERO = _U(0), _U(10), _U(48)
_NULL = np.frombuffer(b"NULL", np.uint8)
#: Numbers between these are written with a point alone, others with an exponent.
_SMALL, _LARGE = 1e-5, 1e9


@kernel
def put_whole(out, at, m):
    """Write a whole number; returns the position after it."""
    end = at + 1
    rest = m // _10
    while rest > _0:
        rest //= _10
        end += 1
    for i in range(end - 1, at - 1, -1):
        out[i] = _ZERO + m % _10
        m //= _10
    return end


@kernel
def _put_point(out, at, m, decimals):
    """Write ``m / 10^decimals``, with 1 decimal or more."""
    whole = m // _U(POWERS[decimals])
    at = put_whole(out, at, whole)
    rest = m - whole * _U(POWERS[decimals])
    out[at] = 46
    for i in range(at + decimals, at, -1):
        out[i] = _ZERO + rest % _10
        rest //= _10
    return at + decimals + 1


@kernel
def _put_exponent(out, at, value, size):
    """Write with an exponent, as few of nine digits as are enough."""
    power = int(np.floor(np.log10(size)))  # may be one off; that costs a digit of the nine, no more
    m = _0
    e = 0
    for decimals in range(10):
        e = power - decimals
        scaled = size * 10.0**-e if e <= 0 else size / 10.0**e
        m = _U(np.rint(scaled))
        decoded, sure = decimal(m, e, NONE)
        if sure and np.float32(decoded) == value:
            break
    while m % _10 == _0:
        m //= _10
        e += 1
    decimals = 0
    rest = m // _10
    while rest > _0:
        rest //= _10
        decimals += 1
    at = _put_point(out, at, m, decimals) if decimals else put_whole(out, at, m)
    out[at] = 101
    at += 1
    e += decimals
    if e < 0:
        out[at] = 45
        at += 1
    return put_whole(out, at, _U(abs(e)))


@kernel
def put_number(out, at, value):
    """Write a finite number of single precision, or NULL for NaN; returns the position after it.

    Uses the fewest digits for which `read_number`, rounded to single precision, returns the same
    number.
    """
    if np.isnan(value):
        for c in _NULL:  # a loop, because Numba's slices of arrays take seconds to compile
            out[at] = c
            at += 1
        return at
    if np.signbit(value):
        out[at] = 45
        at += 1
        value = -value
    size = np.float64(value)
    if size < _LARGE and size == np.floor(size):
        return put_whole(out, at, _U(size))
    if _SMALL <= size < _LARGE:
        for decimals in range(1, 15):
            m = np.rint(size * POWERS[decimals])
            if np.float32(m / POWERS[decimals]) == value:
                return _put_point(out, at, _U(m), decimals)
    return _put_exponent(out, at, value, size)
