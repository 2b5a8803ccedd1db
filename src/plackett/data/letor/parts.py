"""LETOR text in parts that threads parse at the same time, each into its own rows of the same arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.letor import slots as slot
from plackett.data.letor.errors import LineRange
from plackett.data.letor.numbers import read_open
from plackett.data.letor.parse import parse_rows

#: Text per call of a kernel: small enough to keep all threads busy, large enough to make the calls cheap.
_MIN_PART, _MAX_PART = 1 << 18, 1 << 23

#: Room for numbers of an unusual form: they are read when it is full.
_OPEN = 4096


@dataclass
class Part:
    """Some lines of a segment, and where their rows and entries go."""

    segment: LineRange
    lo: int
    hi: int
    row: int = 0
    rows: int = 0
    entry: int = 0
    state: np.ndarray | None = None
    error: tuple[int, int] | None = None


class Arrays:
    """The arrays that all parts are parsed into."""

    def __init__(self, rows: int, width: int, entries: int | None) -> None:
        self.y = np.empty(rows)
        self.qid = np.empty(rows, np.int64)
        self.qid_span = np.empty((rows, 2), np.int64)
        self.comment = np.empty((rows, 2), np.int64)
        self.dense = entries is None
        self.values = np.empty(rows * width if entries is None else entries, np.float32)
        self.columns = np.empty(entries or 0, np.int32)
        self.ends = np.empty(0 if entries is None else rows, np.int64)


def split(segment: LineRange, threads: int) -> list[Part]:
    """Cut a segment between lines."""
    size = min(max((segment.hi - segment.lo) // (4 * threads), _MIN_PART), _MAX_PART)
    parts = []
    lo = segment.lo
    while lo < segment.hi:
        hi = segment.hi if segment.hi - lo <= size else segment.line_end(lo + size - 1) + 1
        parts.append(Part(segment, lo, hi))
        lo = hi
    return parts or [Part(segment, segment.lo, segment.lo)]


def parse_part(part: Part, arrays: Arrays, width: int, fixed: bool, expected: Any, fill: np.float32) -> None:
    """Parse a part; its final state, and position and kind of its first error, are noted in it."""
    state = np.zeros(slot.SIZE, np.int64)
    state[slot.AT], state[slot.ROW], state[slot.ENTRY], state[slot.NO_QUERY] = part.lo, part.row, part.entry, -1
    part.state, part.error = state, None
    open_values = np.empty((_OPEN, 3), np.int64)
    prefixes, masks, sizes = expected
    bits = arrays.values.view(np.uint32)
    while True:
        state[slot.FULL] = 0
        parse_rows(
            part.segment.text, part.hi, arrays.dense, width, fixed, fill, prefixes, masks, sizes,
            arrays.y, arrays.qid, arrays.qid_span, arrays.comment, arrays.values, bits, arrays.columns,
            arrays.ends, open_values, state,
        )  # fmt: skip
        n_open = state[slot.OPEN]
        part.error = read_open(part.segment.text, open_values[:n_open], arrays.y, arrays.values, state)
        if part.error is None and state[slot.ERROR]:
            part.error = (int(state[slot.POSITION]), int(state[slot.ERROR]))
        if part.error is not None or not state[slot.FULL]:
            return
        state[slot.OPEN] = 0
        if n_open == 0:  # not enough room for a single row
            open_values = np.empty((2 * len(open_values), 3), np.int64)


def compact(parts: list[Part], arrays: Arrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Close the gaps between the entries of the parts: values, columns and row pointers of a CSR matrix."""
    to = 0
    for part in parts:
        assert part.state is not None
        n = int(part.state[slot.ENTRY]) - part.entry
        if to != part.entry:
            for array in (arrays.values, arrays.columns):
                array[to : to + n] = array[part.entry : part.entry + n]
            arrays.ends[part.row : part.row + part.rows] -= part.entry - to
        to += n
    return arrays.values[:to], arrays.columns[:to], np.concatenate(([0], arrays.ends))
