"""Kernels that read LETOR text: count the rows, then parse each line straight into the arrays of the result.

A text here is a range ``[lo, hi)`` of a byte array: whole lines, the last byte a newline, `PADDING` readable bytes
behind it. Lines that are empty or hold a comment alone are no rows.
"""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel
from plackett.data._floats import BAD, INFINITE, LONG, MISSING, OK, POWERS, PYTHON, read_number
from plackett.data._words import digits, find_newline, leading_digits, load

__all__ = ["MAX_FEATURE", "MAX_QID", "Errors", "State", "count_colons", "count_rows", "parse_rows", "patterns"]

#: Largest feature id: column numbers of a sparse matrix are 32-bit integers.
MAX_FEATURE = 2**31 - 1
#: Longest query id, in bytes.
MAX_QID = 1000


class State:
    """Places in the array of counters that `parse_rows` works on."""

    AT, ROW, ENTRY, OPEN, ERROR, PLACE, MAX_ID, NAMED, UNSORTED, COMMENTS, QUERIES, NO_QUERY, FULL = range(13)
    SIZE = 13


class Errors:
    """What `parse_rows` reports in ``State.ERROR``; 0 is no error."""

    LABEL, LABEL_MISSING, LABEL_INFINITE, LABEL_LONG, QID_EMPTY, QID_LONG, QID_BYTE = range(1, 8)
    TOKEN, ID_ZERO, ID_NEGATIVE, ID_LARGE, ID_BEYOND, ID_TWICE, VALUE, VALUE_INFINITE, VALUE_LONG = range(8, 17)


_E, _S = Errors, State
_E_LABEL, _E_LABEL_MISSING, _E_LABEL_INFINITE, _E_LABEL_LONG = _E.LABEL, _E.LABEL_MISSING, _E.LABEL_INFINITE, 4
_E_QID_EMPTY, _E_QID_LONG, _E_QID_BYTE = _E.QID_EMPTY, _E.QID_LONG, _E.QID_BYTE
_E_TOKEN, _E_ZERO, _E_NEGATIVE, _E_LARGE, _E_BEYOND = _E.TOKEN, _E.ID_ZERO, _E.ID_NEGATIVE, _E.ID_LARGE, _E.ID_BEYOND
_E_TWICE, _E_VALUE, _E_INFINITE, _E_LONG = _E.ID_TWICE, _E.VALUE, _E.VALUE_INFINITE, _E.VALUE_LONG
_AT, _ROW, _ENTRY, _OPEN, _ERROR, _PLACE, _MAX_ID = _S.AT, _S.ROW, _S.ENTRY, _S.OPEN, _S.ERROR, _S.PLACE, _S.MAX_ID
_NAMED, _UNSORTED, _COMMENTS, _QUERIES, _NO_QUERY = _S.NAMED, _S.UNSORTED, _S.COMMENTS, _S.QUERIES, _S.NO_QUERY
_FULL = _S.FULL

_U = np.uint64
_0, _1, _7, _8, _255, _MINUS = _U(0), _U(1), _U(7), _U(8), _U(255), _U(45)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_NEWLINES = _U(0x0A0A0A0A0A0A0A0A)
_PAST_HASH = _U(0x5C5C5C5C5C5C5C5C)  # 128 - 36 in every byte: the highest bit appears from 36 on
_WIDE = _U(0x00FF00FF00FF00FF)
_QID = _U(int.from_bytes(b"qid:", "little"))
#: Features of this number and above are not expected in order: their ids have to be read.
_PATTERNS = 9_999
_LOW4 = _U(0xFFFFFFFF)
#: Bits of a NaN that no number has: "nothing stored here yet".
_UNSET = np.uint32(0x7FC0DEAD)
_WHOLE = np.array([10**e for e in range(8)], np.uint64)


@kernel(inline=True)
def _blank(c):  # type: ignore[no-untyped-def]
    return c == 32 or c == 9 or c == 13


@kernel(inline=True)
def _ends(c):  # type: ignore[no-untyped-def]
    """Whether a token may end before this byte: a blank, the end of the line, a comment."""
    return c == 32 or c == 10 or c == 13 or c == 9 or c == 35


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
        while _blank(buf[at]):
            at += 1
        rows += buf[at] != 10 and buf[at] != 35
        at = find_newline(buf, at) + 1
    return rows


@kernel
def count_colons(buf, lo, hi):  # type: ignore[no-untyped-def]
    """Number of colons that stand before the comments: at least as many as there are entries."""
    n = 0
    at = lo
    while at < hi:
        c = buf[at]
        if c == 35:
            at = find_newline(buf, at)
        n += c == 58
        at += 1
    return n


@kernel
def patterns(width):  # type: ignore[no-untyped-def]
    """For each feature the text that announces it, " 17:", as a word, the mask of its bytes and their number.

    The last entry is one that no text meets: the expectation behind the last feature.
    """
    width = min(width, _PATTERNS)
    words = np.ones(width + 1, np.uint64)
    masks = np.zeros(width + 1, np.uint64)
    sizes = np.zeros(width + 1, np.int64)
    for j in range(width):
        word = _U(58)
        size = 1
        rest = j + 1
        while rest > 0:
            word = word << _8 | _U(48 + rest % 10)
            rest //= 10
            size += 1
        words[j] = word << _8 | _U(32)
        size += 1
        masks[j] = (_1 << _U(8 * size)) - _1
        sizes[j] = size
    return words, masks, sizes


@kernel
def _fail(state, error, place):  # type: ignore[no-untyped-def]
    state[_ERROR] = error
    state[_PLACE] = place
    return -1


@kernel
def _leave_open(open_values, state, at, end, place):  # type: ignore[no-untyped-def]
    """Note a number for Python to read; false where there is no room for it."""
    n = state[_OPEN]
    if n == open_values.shape[0]:
        state[_FULL] = 1
        return False
    open_values[n, 0] = at
    open_values[n, 1] = end
    open_values[n, 2] = place
    state[_OPEN] = n + 1
    return True


@kernel
def _read_label(buf, at, row, y, state, open_values, bits):  # type: ignore[no-untyped-def]
    """Read the label; the place behind it, or -1."""
    found, value, end = read_number(buf, at, bits)
    if found == BAD or not _ends(buf[end]):
        return _fail(state, _E_LABEL, at)
    if found == MISSING:
        return _fail(state, _E_LABEL_MISSING, at)
    if found == INFINITE:
        return _fail(state, _E_LABEL_INFINITE, at)
    if found == LONG:
        return _fail(state, _E_LABEL_LONG, at)
    if found == PYTHON and not _leave_open(open_values, state, at, end, -1 - row):
        return -1
    y[row] = value
    return end


@kernel
def _read_qid(buf, at, row, qid, qid_place, state):  # type: ignore[no-untyped-def]
    """Read ``qid:…`` where it stands; the place behind it, or -1."""
    if load(buf, at) & _LOW4 != _QID:
        qid_place[row, 0] = 0
        qid_place[row, 1] = 0
        if state[_NO_QUERY] < 0:
            state[_NO_QUERY] = at
        return at
    at += 4
    start = at
    negative = buf[at] == 45
    first = at + negative
    number = np.int64(0)
    whole = True
    while not _ends(buf[at]):
        c = buf[at]
        if c < 32 or c == 127:
            return _fail(state, _E_QID_BYTE, at)
        if 48 <= c <= 57:
            if at - first < 18:
                number = number * 10 + np.int64(c) - 48
        elif at >= first:
            whole = False
        at += 1
    if at == start:
        return _fail(state, _E_QID_EMPTY, start - 4)
    if at - start > MAX_QID:
        return _fail(state, _E_QID_LONG, start)
    size = at - first
    if not whole or size == 0 or size > 18 or (buf[first] == 48 and (size > 1 or negative)):
        state[_NAMED] += 1
    qid[row] = -number if negative else number
    qid_place[row, 0] = start
    qid_place[row, 1] = at
    state[_QUERIES] += 1
    return at


@kernel
def _read_id(buf, at, state):  # type: ignore[no-untyped-def]
    """Read a feature id with its colon: the id and the place behind, or (0, -1)."""
    start = at
    number = np.int64(0)
    while 48 <= buf[at] <= 57:
        if number <= MAX_FEATURE:
            number = number * 10 + np.int64(buf[at]) - 48
        at += 1
    if buf[at] != 58 or at == start:
        if buf[start] == 45 and 48 <= buf[start + 1] <= 57:
            return 0, _fail(state, _E_NEGATIVE, start)
        return 0, _fail(state, _E_TOKEN, start)
    if number == 0:
        return 0, _fail(state, _E_ZERO, start)
    if number > MAX_FEATURE:
        return 0, _fail(state, _E_LARGE, start)
    return number, at + 1


@kernel
def _number_error(found):  # type: ignore[no-untyped-def]
    if found == INFINITE:
        return _E_INFINITE
    if found == LONG:
        return _E_LONG
    return _E_VALUE


@kernel
def _read_value(buf, at, place, values, open_values, state, bits):  # type: ignore[no-untyped-def]
    """Read any value into ``values[place]`` (nowhere where that is -1); the place behind it, or -1."""
    found, value, end = read_number(buf, at, bits)
    if found > MISSING or not _ends(buf[end]):
        return _fail(state, _number_error(found), at)
    single = np.float32(value)
    if found == OK and np.isinf(single):
        return _fail(state, _E_INFINITE, at)
    if found == PYTHON and place >= 0 and not _leave_open(open_values, state, at, end, place):
        return -1
    if place >= 0:
        values[place] = single
    return end


@kernel(inline=True)
def _common_value(buf, at):  # type: ignore[no-untyped-def]
    """Read a value of the common forms, up to seven digits before and up to seven behind the point.

    The value and the place behind it; that is -1 for all others, which `_read_value` reads.
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
    return (-value if negative else value), (at if _ends(buf[_U(at)]) else -1)


@kernel(inline=True)
def _expected_features(buf, at, column, base, words, masks, sizes, values):  # type: ignore[no-untyped-def]
    """Read features as long as they come in order, without a gap, and have common values.

    Most files list all features: the text that announces the next one is compared as a whole.
    """
    while load(buf, at) & masks[_U(column)] == words[_U(column)]:
        value, end = _common_value(buf, at + sizes[_U(column)])
        if end < 0:
            break
        values[_U(base + column)] = value
        column += 1
        at = end
    return at, column


@kernel
def parse_rows(  # type: ignore[no-untyped-def]
    buf, hi, dense, width, fixed, fill, words, masks, sizes,
    y, qid, qid_place, comment, values, columns, ends, open_values, state, bits,
):  # fmt: skip
    """Parse the lines from ``state[AT]`` to ``hi`` into the rows from ``state[ROW]`` on.

    Dense: row ``r`` fills ``values[r · width : (r + 1) · width]``, features that it does not list become ``fill``. An
    id beyond ``width`` is an error where the width is ``fixed``, else its value is dropped and ``state[MAX_ID]`` tells
    that a wider array is needed. Sparse: entries go to ``values`` and ``columns`` from ``state[ENTRY]`` on, the end of
    each row to ``ends``.

    Values that only Python can read exactly are noted in ``open_values`` (begin and end of the text, place of the
    value). Where that is full, the kernel returns with ``state[FULL]`` set, at the begin of a row, to be called again.

    An id that is not larger than the one before makes the row start again in a careful mode that looks for repeated
    ids.
    """
    unset = values.view(np.uint32)
    known = words.size - 1 if dense else 0
    at = state[_AT]
    row = state[_ROW]
    entry = state[_ENTRY]
    largest = state[_MAX_ID]
    while at < hi:
        while _blank(buf[at]):
            at += 1
        if buf[at] == 10:
            at += 1
            continue
        if buf[at] == 35:
            at = find_newline(buf, at) + 1
            continue
        state[_AT] = at
        state[_ROW] = row
        state[_ENTRY] = entry
        open_before = state[_OPEN]
        if buf[at] - 48 < 10 and buf[at] >= 48 and buf[at + 1] == 32:
            y[row] = buf[at] - 48
            at += 1
        else:
            at = _read_label(buf, at, row, y, state, open_values, bits)
            if at < 0:
                state[_OPEN] = open_before
                return
        while _blank(buf[at]):
            at += 1
        at = _read_qid(buf, at, row, qid, qid_place, state)
        if at < 0:
            return
        features = at
        open_label = state[_OPEN]
        base = row * width
        careful = False
        column = 0  # the next one, where all are listed in order
        while True:
            if column < known:
                at, column = _expected_features(buf, at, column, base, words, masks, sizes, values)
            while _blank(buf[at]):
                at += 1
            if buf[at] == 10 or buf[at] == 35:
                break
            token = at
            number, at = _read_id(buf, at, state)
            if at < 0:
                return
            largest = max(largest, number)
            here = number - 1
            if here >= width:
                if fixed:
                    _fail(state, _E_BEYOND, token)
                    return
                if dense:
                    at = _read_value(buf, at, -1, values, open_values, state, bits)
                    if at < 0:
                        break
                    continue
            if careful:
                if unset[base + here] != _UNSET:
                    _fail(state, _E_TWICE, token)
                    return
            elif here < column:
                if here == column - 1:
                    _fail(state, _E_TWICE, token)
                    return
                if dense:
                    careful = True
                    state[_OPEN] = open_label
                    unset[base : base + width] = _UNSET
                    column = width
                    at = features
                    continue
                state[_UNSORTED] = 1
            elif dense:
                for j in range(base + column, base + here):
                    values[j] = fill
            place = base + here if dense else entry
            value, end = _common_value(buf, at)
            if end > 0:
                values[place] = value
                at = end
            else:
                at = _read_value(buf, at, place, values, open_values, state, bits)
                if at < 0:
                    break
            if not dense:
                columns[entry] = here
                entry += 1
            if not careful:
                column = here + 1
        if at < 0:
            if state[_FULL]:
                state[_OPEN] = open_before
                state[_QUERIES] -= qid_place[row, 1] > 0
            return
        if careful:
            for j in range(base, base + width):
                if unset[j] == _UNSET:
                    values[j] = fill
        elif dense:
            for j in range(base + column, base + width):
                values[j] = fill
        else:
            ends[row] = entry
        end = find_newline(buf, at)
        comment[row, 0] = at + (buf[at] == 35)
        comment[row, 1] = max(comment[row, 0], end - (buf[end - 1] == 13))
        state[_COMMENTS] += comment[row, 1] > comment[row, 0]
        at = end + 1
        row += 1
        state[_MAX_ID] = max(largest, column if not careful else 0)
        largest = state[_MAX_ID]
    state[_AT] = at
    state[_ROW] = row
    state[_ENTRY] = entry
