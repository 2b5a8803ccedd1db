"""Convert decimal text to binary floating point, exactly as Python's `float` does.

A decimal number is ``m · 10^e`` with a whole ``m``. Where ``m < 2^53`` and ``|e| <= 22`` both are exact in double
precision and one multiplication or division rounds correctly (Clinger 1990). Else the 128-bit method of Lemire (2021,
"Number parsing at a gigabyte per second") decides nearly always; what it leaves open is reported as `PYTHON`, and the
caller asks Python's `float`.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor.words import eight_digits, leading_digits, load

#: Status of `read_number`: a number, one for Python to read, a missing value, infinity, not a number, too long.
OK, PYTHON, MISSING, INFINITE, BAD, LONG = 0, 1, 2, 3, 4, 5

#: Zero as a typed number: Numba compiles a function once more for each literal that it is called with.
NONE = np.int64(0)
#: Exact powers of ten.
POWERS = np.array([10.0**e for e in range(23)])
#: Longer numbers, in characters, are rejected.
_MAX_LENGTH = 4096

_MIN_EXPONENT, _MAX_EXPONENT = -342, 308
_U = np.uint64
_0, _1, _2, _3, _10, _32, _63 = _U(0), _U(1), _U(2), _U(3), _U(10), _U(32), _U(63)
_1E8 = _U(10**8)
_LOW32 = _U(0xFFFFFFFF)
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_UNSURE = _U(0x1FF)
_TWO53 = _U(2**53)
_HIDDEN = _U(2**52)


def _fives() -> np.ndarray:
    """First 128 bits of 5^e for every exponent, as two words; rounded up for negative exponents, down for others."""
    rows = []
    for e in range(_MIN_EXPONENT, _MAX_EXPONENT + 1):
        power = 5 ** abs(e)
        if e < 0:
            bits = power.bit_length() + 127 if e >= -27 else 2 * power.bit_length() + 128
            value = 2**bits // power + 1
            value >>= max(value.bit_length() - 128, 0)
        else:
            shift = 128 - power.bit_length()
            value = power << shift if shift >= 0 else power >> -shift
        rows.append((value >> 64, value & (2**64 - 1)))
    return np.array(rows, np.uint64)


_FIVES = _fives()
#: Units of the last place of double precision, from the smallest on: a mantissa times one of them is exact.
_TWOS = 2.0 ** np.arange(-1074, 972)


@kernel
def _multiply(a, b):
    """High and low word of the 128-bit product."""
    a0, a1, b0, b1 = a & _LOW32, a >> _32, b & _LOW32, b >> _32
    low, mid, mid2, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    carry = ((low >> _32) + (mid & _LOW32) + (mid2 & _LOW32)) >> _32
    return high + (mid >> _32) + (mid2 >> _32) + carry, a * b


@kernel
def _lemire(m, e):
    """Nearest double of ``m · 10^e`` and whether that is certain."""
    if e < _MIN_EXPONENT or e > _MAX_EXPONENT:
        return 0.0, False
    w = m
    zeros = 0
    while w >> _63 == _0:
        w <<= _1
        zeros += 1
    high, low = _multiply(w, _FIVES[e - _MIN_EXPONENT, 0])
    if high & _UNSURE == _UNSURE:
        more, _ = _multiply(w, _FIVES[e - _MIN_EXPONENT, 1])
        low += more
        if more > low:
            high += _1
    if low == _ALL:
        return 0.0, False
    upper = high >> _63
    shift = upper + _U(9)
    mantissa = high >> shift
    exponent = ((217706 * e) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if exponent <= 0:  # subnormal
        return 0.0, False
    if low <= _1 and -4 <= e <= 23 and mantissa & _3 == _1 and mantissa << shift == high:  # halfway: to even
        mantissa &= ~_1
    mantissa = (mantissa + (mantissa & _1)) >> _1
    if mantissa >= _TWO53:
        mantissa = _HIDDEN
        exponent += 1
    if exponent >= 2047:
        return 0.0, False
    return np.float64(mantissa) * _TWOS[exponent - 1], True


@kernel
def decimal(m, e, lost):
    """Nearest double of ``m · 10^e`` and whether that is certain.

    ``lost`` is the number of digits other than zero that were cut off after ``m``: with some, the number lies between
    ``m`` and ``m + 1``.
    """
    if m == _0 and lost == 0:
        return 0.0, True
    if lost == 0 and m <= _TWO53 and -22 <= e <= 22:
        return (np.float64(m) * POWERS[e] if e >= 0 else np.float64(m) / POWERS[-e]), True
    value = 0.0
    for more in range(1 + (lost > 0)):  # a loop rather than two calls: half the code to compile
        nearest, sure = _lemire(m + _U(more), e)
        if not sure or (more > 0 and nearest != value):
            return nearest, False
        value = nearest
    return value, True


@kernel
def _word(buf, at, text):
    """Whether ``text`` (lower case) is at ``at``, in any case."""
    i = 0
    while i < text.size and buf[at + i] | 32 == text[i]:
        i += 1
    return i == text.size


_NAN = np.frombuffer(b"nan", np.uint8)
_NULL = np.frombuffer(b"null", np.uint8)
_INF = np.frombuffer(b"inf", np.uint8)
_INFINITY = np.frombuffer(b"infinity", np.uint8)


@kernel
def _no_digits(buf, at):
    if _word(buf, at, _NAN):
        return MISSING, np.nan, at + 3
    if _word(buf, at, _NULL):
        return MISSING, np.nan, at + 4
    if _word(buf, at, _INFINITY):
        return INFINITE, 0.0, at + 8
    if _word(buf, at, _INF):
        return INFINITE, 0.0, at + 3
    return BAD, 0.0, at


@kernel
def read_number(buf, at):
    """Read the number at ``at``: its status, its value, and the position after it.

    A sign, digits with or without a point, an exponent; ``nan`` and ``NULL`` are missing. The caller checks what
    follows, and ensures that something follows that is neither a digit nor a letter.
    """
    start = at
    negative = buf[at] == 45
    if negative or buf[at] == 43:
        at += 1
    m = _0
    n = 0  # digits in m, without leading zeros
    seen = 0
    e = 0
    lost = NONE
    point = False
    while True:
        if 0 < n <= 11:
            word = load(buf, at)
            if leading_digits(word) == 8:
                m = m * _1E8 + eight_digits(word)
                n += 8
                seen += 8
                e -= 8 * point
                at += 8
                continue
        c = buf[at]
        if 48 <= c <= 57:
            seen += 1
            if n < 19:
                m = m * _10 + _U(c - 48)
                n += m != _0
                e -= point
            else:
                lost += c != 48
                e += not point
        elif c == 46 and not point:
            point = True
        else:
            break
        at += 1
    if seen == 0:
        return _no_digits(buf, at) if not point else (BAD, 0.0, start)
    if buf[at] | 32 == 101:
        at += 1
        down = buf[at] == 45
        if down or buf[at] == 43:
            at += 1
        if not 48 <= buf[at] <= 57:
            return BAD, 0.0, start
        power = 0
        while 48 <= buf[at] <= 57:
            power = min(power * 10 + int(buf[at]) - 48, 100_000)
            at += 1
        e += -power if down else power
    if at - start > _MAX_LENGTH:
        return LONG, 0.0, at
    value, sure = decimal(m, e, lost)
    return (OK if sure else PYTHON), (-value if negative else value), at
