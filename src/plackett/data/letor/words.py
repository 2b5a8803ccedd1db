"""Eight bytes of text at a time, as one 64-bit number: the small tools of the text readers.

The first byte of the text is the lowest byte of the word, on every machine. Reading a word needs eight readable
bytes: callers keep that many after the last one they use.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from plackett._kernels.kernel import kernel

#: Readable bytes that a kernel may count on after the end of its text.
PADDING = 32

_U = np.uint64
_HIGH = _U(0x8080808080808080)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_NEWLINES = _U(0x0A0A0A0A0A0A0A0A)
_LESS_ZERO = _U(0x3030303030303030)
_ABOVE_NINE = _U(0x4646464646464646)
_B0, _B1, _B7, _B8 = _U(0), _U(1), _U(7), _U(8)
_B16, _B24, _B32 = _U(16), _U(24), _U(32)
_I2, _I3, _I4, _I5, _I6 = _U(2), _U(3), _U(4), _U(5), _U(6)
_NIBBLES, _PAIRS, _QUADS = _U(0x0F0F0F0F0F0F0F0F), _U(0x00FF00FF00FF00FF), _U(0x0000FFFF0000FFFF)
_TO_PAIRS, _TO_QUADS, _TO_EIGHT = _U(2561), _U(6553601), _U(42949672960001)


@intrinsic
def _word(context: Any, buf: Any, at: Any) -> Any:
    """The eight bytes from ``at`` on as one number, whose lowest byte is the first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        text = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.gep(text.data, [arguments[1]])
        word = builder.load(builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(buf, types.uint64), generate


@kernel(inline=True)
def load(buf, at):  # type: ignore[no-untyped-def]
    """Word of the eight bytes from ``at`` on."""
    return _word(buf, _U(at))


@intrinsic
def _trailing_zeros(context: Any, word: Any) -> Any:
    """Number of zero bits below the lowest one that is set; ``word`` is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return word(word), generate


@kernel(inline=True)
def _first(marks):  # type: ignore[no-untyped-def]
    """Number of the first byte whose highest bit is set; ``marks`` is not zero."""
    return np.int64(_trailing_zeros(marks) >> _I3)


@kernel(inline=True)
def leading_digits(word):  # type: ignore[no-untyped-def]
    """How many of the first bytes are decimal digits, 0 to 8.

    Carries and borrows run upwards only, so the first mark is right, whatever follows it.
    """
    marks = ((word + _ABOVE_NINE) | (word - _LESS_ZERO)) & _HIGH
    return 8 if marks == _B0 else _first(marks)


@kernel(inline=True)
def eight_digits(word):  # type: ignore[no-untyped-def]
    """Value of eight decimal digits, as an unsigned number; a zero byte counts as the digit zero."""
    word = (((word & _NIBBLES) * _TO_PAIRS) >> _B8) & _PAIRS
    word = ((word * _TO_QUADS) >> _B16) & _QUADS
    return (word * _TO_EIGHT) >> _B32


@kernel(inline=True)
def digits(word, n):  # type: ignore[no-untyped-def]
    """Value of the first ``n`` bytes, 0 to 7 decimal digits, as an unsigned number."""
    return eight_digits((word << _U(56 - 8 * n)) << _B8)


@kernel
def find_newline(buf, at):  # type: ignore[no-untyped-def]
    """Position of the first newline from ``at`` on; there is one."""
    while True:
        other = load(buf, at) ^ _NEWLINES
        zero = ~(((other & _LOW7) + _LOW7) | other | _LOW7)
        if zero != _B0:
            return at + _first(zero)
        at += 8
