"""Kernels that look over LETOR text before it is parsed: how many rows, how many entries at most."""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel
from plackett.data.letor.tokens import blank
from plackett.data.letor.words import find_newline, load

__all__ = ["count_colons", "count_rows"]

_U = np.uint64
_0, _7, _8 = _U(0), _U(7), _U(8)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_NEWLINES = _U(0x0A0A0A0A0A0A0A0A)
_COLONS = _U(0x3A3A3A3A3A3A3A3A)
_PAST_HASH = _U(0x5C5C5C5C5C5C5C5C)  # 128 - 36 in every byte: the highest bit appears from 36 on
_WIDE = _U(0x00FF00FF00FF00FF)


@kernel(inline=True)
def _sum_bytes(word):  # type: ignore[no-untyped-def]
    word = (word & _WIDE) + ((word >> _8) & _WIDE)
    return np.int64((word * _U(0x0001000100010001)) >> _U(48))


@kernel
def count_rows(buf, lo, hi):  # type: ignore[no-untyped-def]
    """Number of lines that hold more than blanks and a comment.

    Eight bytes at a time: a line that begins with a byte above '#' is a row. Any other needs a second look, and only
    a text that has such lines is walked line by line.
    """
    lines = 0
    plain = 0
    at = lo
    while at + 8 < hi:
        end = min(at + 8 * 255, hi - 8)
        line_sums = _0
        plain_sums = _0
        while at < end:
            word = load(buf, at)
            other = word ^ _NEWLINES
            newline = (~(((other & _LOW7) + _LOW7) | other) & ~_LOW7) >> _7
            word = load(buf, at + 1)
            line_sums += newline
            plain_sums += newline & ((((word & _LOW7) + _PAST_HASH) | word) >> _7)
            at += 8
        lines += _sum_bytes(line_sums)
        plain += _sum_bytes(plain_sums)
    while at < hi - 1:
        if buf[at] == 10:
            lines += 1
            plain += buf[at + 1] > 35
        at += 1
    if lo < hi:
        lines += 1
        plain += buf[lo] > 35
    if lines == plain:
        return plain
    rows = 0
    at = lo
    while at < hi:
        while blank(buf[at]):
            at += 1
        rows += buf[at] != 10 and buf[at] != 35
        at = find_newline(buf, at) + 1
    return rows


@kernel
def count_colons(buf, lo, hi):  # type: ignore[no-untyped-def]
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
