"""Look over LETOR text before it is parsed: how many rows, how many entries at most."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor.tokens import blank
from plackett.data.letor.words import find_newline, load

_U = np.uint64
_0, _7, _8 = _U(0), _U(7), _U(8)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_NEWLINES = _U(0x0A0A0A0A0A0A0A0A)
_PAST_HASH = _U(0x5C5C5C5C5C5C5C5C)  # 128 - 36 in every byte: the highest bit appears from 36 on
_COLONS = _U(0x3A3A3A3A3A3A3A3A)
_WIDE = _U(0x00FF00FF00FF00FF)
#: Bytes that NumPy counts in a millisecond: less than it takes to compile a kernel.
_SMALL = 1 << 20


@kernel(inline=True)
def _sum_bytes(word):
    word = (word & _WIDE) + ((word >> _8) & _WIDE)
    return np.int64((word * _U(0x0001000100010001)) >> _U(48))


def count_rows(buf: np.ndarray, lo: int, hi: int) -> int:
    """Number of lines that hold more than blanks and a comment.

    A line that begins with a byte above '#' is a row. Any other needs a second look, and only a text that has such
    lines is walked line by line.
    """
    if lo == hi:
        return 0
    cut = lo if hi - lo < _SMALL else hi - 1 - (hi - 1 - lo) % 8  # the last newline is followed by nothing
    rows = _count_plain(buf, lo, cut) if cut > lo else 0
    rest = np.flatnonzero(buf[cut : hi - 1] == 10) + cut + 1
    plain = rows >= 0 and (buf[rest] > 35).all() and buf[lo] > 35
    return rows + rest.size + 1 if plain else _count_rows(buf, lo, hi)


@kernel
def _count_plain(buf, lo, hi):
    """Number of newlines, whole words at a time; -1 if one of them is not followed by a byte above '#'."""
    n = 0
    other = _0
    at = lo
    while at < hi:
        end = min(at + 8 * 255, hi)
        sums = _0
        while at < end:
            difference = load(buf, at) ^ _NEWLINES
            newline = (~(((difference & _LOW7) + _LOW7) | difference) & ~_LOW7) >> _7
            after = load(buf, at + 1)
            sums += newline
            other |= newline & ~((((after & _LOW7) + _PAST_HASH) | after) >> _7)
            at += 8
        n += _sum_bytes(sums)
    return n if other == _0 else -1


@kernel
def _count_rows(buf, lo, hi):
    rows = 0
    at = lo
    while at < hi:
        while blank(buf[at]):
            at += 1
        rows += buf[at] != 10 and buf[at] != 35
        at = find_newline(buf, at) + 1
    return rows


@kernel
def count_colons(buf, lo, hi):
    """Number of colons: at least as many as there are entries."""
    n = 0
    at = lo
    while at + 8 <= hi:
        end = min(at + 8 * 255, hi - 7)
        sums = _0
        while at < end:
            other = load(buf, at) ^ _COLONS
            sums += (~(((other & _LOW7) + _LOW7) | other) & ~_LOW7) >> _7
            at += 8
        n += _sum_bytes(sums)
    while at < hi:
        n += buf[at] == 58
        at += 1
    return n
