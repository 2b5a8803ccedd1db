"""Look over LETOR text before it is parsed: how many rows, how many entries at most."""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel
from plackett.data.letor.tokens import blank
from plackett.data.letor.words import find_newline, load

__all__ = ["count_colons", "count_rows"]

_U = np.uint64
_0, _7, _8 = _U(0), _U(7), _U(8)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_COLONS = _U(0x3A3A3A3A3A3A3A3A)
_WIDE = _U(0x00FF00FF00FF00FF)
#: Bytes that NumPy looks at in one go: they stay in the cache.
_CHUNK = 1 << 16


@kernel(inline=True)
def _sum_bytes(word):  # type: ignore[no-untyped-def]
    word = (word & _WIDE) + ((word >> _8) & _WIDE)
    return np.int64((word * _U(0x0001000100010001)) >> _U(48))


def count_rows(buf: np.ndarray, lo: int, hi: int) -> int:
    """Number of lines that hold more than blanks and a comment.

    A line that begins with a byte above '#' is a row. Any other needs a second look, and only a text that has such
    lines is walked line by line.
    """
    if lo == hi:
        return 0
    lines, plain = 1, int(buf[lo] > 35)
    newline, above = np.empty(_CHUNK, np.bool_), np.empty(_CHUNK, np.bool_)
    for start in range(lo, hi - 1, _CHUNK):
        n = min(_CHUNK, hi - 1 - start)
        np.equal(buf[start : start + n], 10, out=newline[:n])
        np.greater(buf[start + 1 : start + 1 + n], 35, out=above[:n])
        lines += np.count_nonzero(newline[:n])
        plain += np.count_nonzero(np.logical_and(newline[:n], above[:n], out=above[:n]))
    return plain if plain == lines else _count_rows(buf, lo, hi)


@kernel
def _count_rows(buf, lo, hi):  # type: ignore[no-untyped-def]
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
