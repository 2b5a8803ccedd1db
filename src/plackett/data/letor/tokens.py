"""Kernels that read the parts of a line of LETOR text: label, query id, feature id, value.

Each returns the position after what it read, or -1 after recording the error in the state.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor import faults as fault
from plackett.data.letor import slots as slot
from plackett.data.letor.floats import POWERS
from plackett.data.letor.words import digits, leading_digits, load

#: Largest feature id: column numbers of a sparse matrix are 32-bit integers.
MAX_FEATURE = 2**31 - 1
#: Longest query id, in bytes.
MAX_QID = 1000
#: Index of a value that is not kept.
NOWHERE = np.int64(2**62)

_U = np.uint64
_255, _MINUS = _U(255), _U(45)
_QID = _U(int.from_bytes(b"qid:", "little"))
_LOW4 = _U(0xFFFFFFFF)
_WHOLE = np.array([10**e for e in range(8)], np.uint64)


@kernel(inline=True)
def blank(c):
    """Whether a byte separates tokens."""
    return c == 32 or c == 9 or c == 13


@kernel(inline=True)
def ends(c):
    """Whether a token may end before this byte: a blank, the end of the line, a comment."""
    return c == 32 or c == 10 or c == 13 or c == 9 or c == 35


@kernel
def fail(state, error, position):
    """Record what is wrong and where; returns the position that ends parsing."""
    state[slot.ERROR] = error
    state[slot.POSITION] = position
    return -1


@kernel
def leave_open(buf, at, index, open_values, state):
    """Note a number of any other form, to be read by `numbers`; the position after it, or -1 if there is no room.

    ``index`` is an index into the values, `NOWHERE`, or ``-1 - row`` for the label of a row.
    """
    n = state[slot.OPEN]
    if n == open_values.shape[0]:
        state[slot.FULL] = 1
        return -1
    open_values[n, 0] = at
    while not ends(buf[at]):
        at += 1
    open_values[n, 1] = at
    open_values[n, 2] = index
    state[slot.OPEN] = n + 1
    return at


@kernel
def read_qid(buf, at, row, qid, qid_span, state):
    """Read ``qid:…`` if it is there; returns the position after it, or -1."""
    if load(buf, at) & _LOW4 != _QID:
        qid_span[row, 0] = 0
        qid_span[row, 1] = 0
        if state[slot.NO_QUERY] < 0:
            state[slot.NO_QUERY] = at
        return at
    at += 4
    start = at
    negative = buf[at] == 45
    first = at + negative
    number = np.int64(0)
    whole = True
    while not ends(buf[at]):
        c = buf[at]
        if c < 32 or c == 127:
            return fail(state, fault.QID_BYTE, at)
        if 48 <= c <= 57:
            if at - first < 18:
                number = number * 10 + np.int64(c) - 48
        elif at >= first:
            whole = False
        at += 1
    if at == start:
        return fail(state, fault.QID_EMPTY, start - 4)
    if at - start > MAX_QID:
        return fail(state, fault.QID_LONG, start)
    size = at - first
    if not whole or size == 0 or size > 18 or (buf[first] == 48 and (size > 1 or negative)):
        state[slot.NAMED] += 1
    qid[row] = -number if negative else number
    qid_span[row, 0] = start
    qid_span[row, 1] = at
    state[slot.QUERIES] += 1
    return at


@kernel
def read_id(buf, at, state):
    """Read a feature id with its colon: the id and the position after it, or (0, -1)."""
    start = at
    number = np.int64(0)
    while 48 <= buf[at] <= 57:
        if number <= MAX_FEATURE:
            number = number * 10 + np.int64(buf[at]) - 48
        at += 1
    if buf[at] != 58 or at == start:
        if buf[start] == 45 and 48 <= buf[start + 1] <= 57:
            return 0, fail(state, fault.ID_NEGATIVE, start)
        return 0, fail(state, fault.TOKEN, start)
    if number == 0:
        return 0, fail(state, fault.ID_ZERO, start)
    if number > MAX_FEATURE:
        return 0, fail(state, fault.ID_LARGE, start)
    return number, at + 1


@kernel(inline=True)
def common_value(buf, at):
    """Read a value of a common form: up to seven digits before and up to seven after the point.

    Returns the value and the position after it, or -1 for all other forms, which `leave_open` notes.
    """
    word = load(buf, at)
    negative = word & _255 == _MINUS
    if negative:
        at += 1
        word = load(buf, at)
    n = leading_digits(word)
    if n == 8:
        return np.float32(0), -1
    at += n
    if buf[_U(at)] == 46:
        tail = load(buf, at + 1)
        behind = leading_digits(tail)
        at += 1 + behind
        if behind == 8 or n + behind == 0:
            return np.float32(0), -1
        m = digits(word, n) * _WHOLE[_U(behind)] + digits(tail, behind)
        value = np.float32(np.float64(m) / POWERS[_U(behind)])
    elif n > 0:
        value = np.float32(digits(word, n))
    else:
        return np.float32(0), -1
    return (-value if negative else value), (at if ends(buf[_U(at)]) else -1)
