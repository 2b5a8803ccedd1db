"""Some lines of LETOR text to arrays, on several threads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._kernel import n_threads
from plackett.data import _letor_faults as fault
from plackett.data import _letor_slots as slot
from plackett.data._letor_count import count_colons, count_rows
from plackett.data._letor_errors import Segment, letor_error
from plackett.data._letor_parse import parse_rows, patterns
from plackett.data._letor_tokens import MAX_FEATURE
from plackett.data._spans import cut_out
from plackett.data._words import find_newline
from plackett.data.strings import Strings

__all__ = ["Block", "Options", "parse_block"]

#: Text per call of a kernel: small enough to keep all threads busy, large enough to make the calls cheap.
_MIN_PART, _MAX_PART = 1 << 18, 1 << 23
#: A dense array above the first size must not be larger than this many times the text.
_DENSE_BYTES, _DENSE_RATIO = 1 << 30, 64
_SAMPLED_LINES = 40


@dataclass(frozen=True)
class Options:
    """How to read: see `plackett.read_letor`."""

    path: str
    sparse: bool
    n_features: int | None
    fill: float
    n_jobs: int | None


@dataclass
class Block:
    """Arrays of consecutive rows; ``features`` is dense, or the parts of a CSR matrix."""

    options: Options
    segments: list[Segment]
    lines: int
    width: int
    y: np.ndarray
    qid: np.ndarray | Strings | None
    qid_places: np.ndarray
    row_places: np.ndarray
    first_row: np.ndarray
    comments: Strings | None
    features: Any
    no_query: tuple[Segment, int] | None

    def segment_of(self, row: int) -> Segment:
        """Segment that holds a row."""
        return self.segments[int(np.searchsorted(self.first_row, row, side="right")) - 1]

    def error(self, segment: Segment, at: int, what: int | tuple[str, str]) -> DataError:
        """Error at a byte of a segment."""
        return letor_error(self.options.path, self.segments, self.lines, segment, at, what)


@dataclass
class _Part:
    segment: Segment
    lo: int
    hi: int
    row: int = 0
    rows: int = 0
    entry: int = 0
    state: np.ndarray | None = None
    error: tuple[int, int] | None = None


class _Arrays:
    """The arrays that all parts are parsed into."""

    def __init__(self, rows: int, width: int, entries: int | None) -> None:
        self.y = np.empty(rows)
        self.qid = np.empty(rows, np.int64)
        self.qid_place = np.empty((rows, 2), np.int64)
        self.comment = np.empty((rows, 2), np.int64)
        self.dense = entries is None
        self.values = np.empty(rows * width if entries is None else entries, np.float32)
        self.columns = np.empty(entries or 0, np.int32)
        self.ends = np.empty(0 if entries is None else rows, np.int64)


def parse_block(segments: list[Segment], lines: int, options: Options) -> Block:
    """Parse the lines of ``segments``, before which the file has ``lines`` lines."""
    threads = n_threads(options.n_jobs)
    parts = [part for segment in segments for part in _split(segment, threads)]
    with ThreadPoolExecutor(threads) as pool:
        arrays, width = _parse_parts(parts, segments, lines, options, pool.map if threads > 1 else map)
    first_row = np.array([min(p.row for p in parts if p.segment is s) for s in segments])
    block = Block(
        options, segments, lines, width, arrays.y, None, arrays.qid_place, arrays.comment, first_row, None, None, None
    )
    states = np.array([part.state for part in parts])
    missing = np.flatnonzero(states[:, slot.NO_QUERY] >= 0)
    if missing.size:
        block.no_query = (parts[missing[0]].segment, int(states[missing[0], slot.NO_QUERY]))
    cuts = [*first_row.tolist(), len(arrays.y)]
    spans = list(zip((s.text for s in segments), cuts[:-1], cuts[1:], strict=True))
    if states[:, slot.NAMED].any():
        block.qid = cut_out([(text, arrays.qid_place[a:b]) for text, a, b in spans])
    elif states[:, slot.QUERIES].any():
        block.qid = arrays.qid
    if states[:, slot.COMMENTS].any():
        block.comments = cut_out([(text, arrays.comment[a:b]) for text, a, b in spans])
    if arrays.dense:
        block.features = arrays.values.reshape(-1, width) if width else np.empty((len(arrays.y), 0), np.float32)
    else:
        block.features = _compact(parts, arrays)
        if states[:, slot.UNSORTED].any():
            _refuse_repeated(block)
    return block


def _split(segment: Segment, threads: int) -> list[_Part]:
    size = min(max((segment.hi - segment.lo) // (4 * threads), _MIN_PART), _MAX_PART)
    parts = []
    lo = segment.lo
    while lo < segment.hi:
        hi = segment.hi if segment.hi - lo <= size else find_newline(segment.text, lo + size - 1) + 1
        parts.append(_Part(segment, lo, hi))
        lo = hi
    return parts or [_Part(segment, segment.lo, segment.lo)]


def _parse_parts(
    parts: list[_Part], segments: list[Segment], lines: int, options: Options, run: Callable[..., Any]
) -> tuple[_Arrays, int]:
    rows = entries = 0
    for part, count in zip(parts, run(lambda p: count_rows(p.segment.text, p.lo, p.hi), parts), strict=True):
        part.row, part.rows = rows, count
        rows += count
    if options.sparse:
        for part, count in zip(parts, run(lambda p: count_colons(p.segment.text, p.lo, p.hi), parts), strict=True):
            part.entry = entries
            entries += count
    fixed = options.n_features is not None
    text_bytes = sum(segment.hi - segment.lo for segment in segments)
    if options.sparse:
        width = options.n_features if options.n_features is not None else MAX_FEATURE
    else:
        width = options.n_features if options.n_features is not None else _sampled_width(segments)
    while True:
        if not options.sparse and not fixed:
            _refuse_huge(options.path, rows, width, text_bytes)
        arrays = _Arrays(rows, width, entries if options.sparse else None)
        expected = patterns(0 if options.sparse else width)
        parse = partial(_parse_part, arrays=arrays, width=width, fixed=fixed, expected=expected, options=options)
        for _ in run(parse, parts):
            pass
        failed = next((part for part in parts if part.error is not None), None)
        if failed is not None and failed.error is not None:
            raise letor_error(options.path, segments, lines, failed.segment, *failed.error)
        largest = max(int(part.state[slot.MAX_ID]) for part in parts if part.state is not None)
        if fixed:
            return arrays, width
        if options.sparse or largest == width:
            return arrays, largest
        width = largest  # the sampled lines did not have the largest id: once more, now that it is known
        del arrays


def _sampled_width(segments: list[Segment]) -> int:
    """Largest last feature id of some lines spread over the text: most often the largest of all."""
    largest = 0
    for segment in segments:
        for place in np.linspace(segment.lo, max(segment.hi - 1, segment.lo), _SAMPLED_LINES).astype(np.int64):
            end = find_newline(segment.text, place) if segment.lo < segment.hi else segment.lo
            line = segment.text[max(segment.lo, end - 4096) : end].tobytes()
            line = line[line.rfind(b"\n") + 1 :].split(b"#", 1)[0]
            ids = re.findall(rb"[ \t](\d{1,9}):", line)
            largest = max(largest, int(ids[-1]) if ids else 0)
    return largest


def _refuse_huge(path: str, rows: int, width: int, text_bytes: int) -> None:
    size = 4 * rows * width
    if size <= _DENSE_BYTES:
        return
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else size
    if size > _DENSE_RATIO * text_bytes or size > memory:
        raise DataError(
            f"{path}: {rows} rows and feature ids up to {width} would make a dense array of {size / 2**30:.1f} GiB; "
            "read it with sparse=True, or give n_features if that is really meant"
        )


def _parse_part(part: _Part, arrays: _Arrays, width: int, fixed: bool, expected: Any, options: Options) -> None:
    state = np.zeros(slot.SIZE, np.int64)
    state[slot.AT], state[slot.ROW], state[slot.ENTRY], state[slot.NO_QUERY] = part.lo, part.row, part.entry, -1
    part.state, part.error = state, None
    open_values = np.empty((256, 3), np.int64)
    bits = np.empty(1, np.uint64)
    words, masks, sizes = expected
    while True:
        state[slot.FULL] = 0
        parse_rows(
            part.segment.text, part.hi, arrays.dense, width, fixed, np.float32(options.fill), words, masks, sizes,
            arrays.y, arrays.qid, arrays.qid_place, arrays.comment, arrays.values, arrays.columns, arrays.ends,
            open_values, state, bits,
        )  # fmt: skip
        part.error = _read_open(part.segment.text, open_values[: state[slot.OPEN]], arrays)
        if part.error is None and state[slot.ERROR]:
            part.error = (int(state[slot.PLACE]), int(state[slot.ERROR]))
        if part.error is not None or not state[slot.FULL]:
            return
        state[slot.OPEN] = 0
        open_values = np.empty((2 * len(open_values), 3), np.int64)


def _read_open(text: np.ndarray, open_values: np.ndarray, arrays: _Arrays) -> tuple[int, int] | None:
    """Read with Python the few numbers that the kernel left open; place and kind of an error, if there is one."""
    for start, end, place in open_values.tolist():
        number = float(text[start:end].tobytes())
        with np.errstate(over="ignore"):
            single = np.float32(number)
        if place < 0:
            if np.isinf(number):
                return start, fault.LABEL_INFINITE
            arrays.y[-1 - place] = number
        elif np.isinf(single):
            return start, fault.VALUE_INFINITE
        else:
            arrays.values[place] = single
    return None


def _compact(parts: list[_Part], arrays: _Arrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def _refuse_repeated(block: Block) -> None:
    """Sort the entries of each row by feature; an error where one appears twice."""
    from scipy.sparse import csr_matrix

    values, columns, pointers = block.features
    matrix = csr_matrix((values, columns, pointers), shape=(len(block.y), max(block.width, 1)))
    matrix.sort_indices()
    block.features = (matrix.data, matrix.indices, matrix.indptr)
    repeated = np.flatnonzero(matrix.indices[1:] == matrix.indices[:-1]) + 1
    repeated = repeated[~np.isin(repeated, matrix.indptr)]
    if repeated.size:
        row = int(np.searchsorted(matrix.indptr, repeated[0], side="right")) - 1
        segment = block.segment_of(row)
        end = int(block.row_places[row, 0])
        start = segment.line_start(end)
        token = rb"(?<=[ \t])0*%d:" % (matrix.indices[repeated[0]] + 1)
        second = list(re.finditer(token, segment.text[start:end].tobytes()))[1]
        raise block.error(segment, start + second.start(), fault.ID_TWICE)
