"""The kernel that parses LETOR text, line by line, straight into the arrays of the result.

A text here is a range ``[lo, hi)`` of a byte array: whole lines, the last byte a newline, `PADDING` readable bytes
after it. Lines that are empty or hold only a comment are not rows.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor import faults as fault
from plackett.data.letor import slots as slot
from plackett.data.letor.floats import NONE
from plackett.data.letor.tokens import NOWHERE, blank, common_value, fail, leave_open, read_id, read_qid
from plackett.data.letor.words import find_newline, load

_U = np.uint64
#: Features of this number and above are not expected in order: their ids have to be read.
_PATTERNS = 9_999
#: Bits of a NaN that no number has: "nothing stored here yet".
_UNSET = np.uint32(0x7FC0DEAD)


def patterns(width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each feature its prefix, " 17:", as a 64-bit word, the mask of its bytes and their number.

    The last entry, after the last feature, matches no text.
    """
    texts = np.array([b" %d:" % j for j in range(1, min(width, _PATTERNS) + 1)], "S8")
    sizes = np.strings.str_len(texts).astype(np.int64)
    masks = np.array([256**size - 1 for size in range(8)], np.uint64)[sizes]
    prefixes = texts.view("<u8").astype(np.uint64)
    return np.append(prefixes, np.uint64(1)), np.append(masks, np.uint64(0)), np.append(sizes, 0)


@kernel(inline=True)
def _expected_features(buf, at, column, index, dense, prefixes, masks, sizes, values, columns):
    """Read features while they come in order, without gaps, and have common values; returns where that ends.

    Most files list all features: the prefix of the next one is compared as a whole.
    """
    while load(buf, at) & masks[_U(column)] == prefixes[_U(column)]:
        value, end = common_value(buf, at + sizes[_U(column)])
        if end < 0:
            break
        values[_U(index)] = value
        if not dense:
            columns[_U(index)] = column
        index += 1
        column += 1
        at = end
    return at, column, index


@kernel
def parse_rows(
    buf, hi, dense, width, fixed, fill, prefixes, masks, sizes,
    y, qid, qid_span, comment, values, bits, columns, ends, open_values, state,
):  # fmt: skip
    """Parse the lines from ``state[AT]`` to ``hi`` into the rows from ``state[ROW]`` on.

    Dense: row ``r`` fills ``values[r · width : (r + 1) · width]``, features that it does not list become ``fill``. An
    id beyond ``width`` is an error where the width is ``fixed``, else its value is dropped and ``state[MAX_ID]`` says
    that a wider array is needed. Sparse: entries go to ``values`` and ``columns`` from ``state[ENTRY]`` on, the end of
    each row to ``ends``.

    Numbers of an unusual form are noted in ``open_values`` (begin and end of the text, index of the value). Where that
    is full, the kernel returns with ``state[FULL]`` set, at the start of a row, to be called again.

    An id that is not larger than the one before makes the row start again in a careful mode that looks for repeated
    ids; ``bits`` are those of ``values``.

    It is one loop, and long, because it is one state machine: every byte is looked at once.
    """
    known = prefixes.size - 1
    at = state[slot.AT]
    row = state[slot.ROW]
    entry = state[slot.ENTRY]
    largest = state[slot.MAX_ID]
    while at < hi:
        while blank(buf[at]):
            at += 1
        if buf[at] == 10:
            at += 1
            continue
        if buf[at] == 35:
            at = find_newline(buf, at) + 1
            continue
        state[slot.AT] = at
        state[slot.ROW] = row
        state[slot.ENTRY] = entry
        open_before = state[slot.OPEN]
        if buf[at] - 48 < 10 and buf[at] >= 48 and buf[at + 1] == 32:
            y[row] = buf[at] - 48
            at += 1
        else:
            at = leave_open(buf, at, -1 - row, open_values, state)
            if at < 0:
                state[slot.OPEN] = open_before
                return
        while blank(buf[at]):
            at += 1
        at = read_qid(buf, at, row, qid, qid_span, state)
        if at < 0:
            return
        features = at
        open_label = state[slot.OPEN]
        base = row * width
        careful = False
        column = NONE  # the next one, where all are listed in order
        while True:
            if column < known:
                index = base + column if dense else entry
                at, column, index = _expected_features(
                    buf, at, column, index, dense, prefixes, masks, sizes, values, columns
                )
                if not dense:
                    entry = index
            while blank(buf[at]):
                at += 1
            if buf[at] == 10 or buf[at] == 35:
                break
            token = at
            number, at = read_id(buf, at, state)
            if at < 0:
                return
            largest = max(largest, number)
            here = number - 1
            value, end = common_value(buf, at)
            if here >= width:
                if fixed:
                    fail(state, fault.ID_BEYOND, token)
                    return
                if dense:
                    at = end if end > 0 else leave_open(buf, at, NOWHERE, open_values, state)
                    if at < 0:
                        break
                    continue
            if careful:
                if bits[base + here] != _UNSET:
                    fail(state, fault.ID_TWICE, token)
                    return
            elif here < column:
                if here == column - 1:
                    fail(state, fault.ID_TWICE, token)
                    return
                if dense:
                    careful = True
                    state[slot.OPEN] = open_label
                    for j in range(base, base + width):
                        bits[j] = _UNSET
                    column = width
                    at = features
                    continue
                state[slot.UNSORTED] = 1
            elif dense:
                for j in range(base + column, base + here):
                    values[j] = fill
            index = base + here if dense else entry
            values[index] = value  # 0 for now where it is left open: the slot is taken
            at = end if end > 0 else leave_open(buf, at, index, open_values, state)
            if at < 0:
                break
            if not dense:
                columns[entry] = here
                entry += 1
            if not careful:
                column = here + 1
        if at < 0:
            if state[slot.FULL]:
                state[slot.OPEN] = open_before
                state[slot.QUERIES] -= qid_span[row, 1] > 0
            return
        if careful:
            for j in range(base, base + width):
                if bits[j] == _UNSET:
                    values[j] = fill
        elif dense:
            for j in range(base + column, base + width):
                values[j] = fill
        else:
            ends[row] = entry
        end = find_newline(buf, at)
        comment[row, 0] = at + (buf[at] == 35)
        comment[row, 1] = max(comment[row, 0], end - (buf[end - 1] == 13))
        state[slot.COMMENTS] += comment[row, 1] > comment[row, 0]
        at = end + 1
        row += 1
        state[slot.MAX_ID] = max(largest, column if not careful else 0)
        largest = state[slot.MAX_ID]
    state[slot.AT] = at
    state[slot.ROW] = row
    state[slot.ENTRY] = entry
