"""Parse lines of LETOR text into arrays, on several threads."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.cores import n_threads
from plackett.data.letor import faults as fault
from plackett.data.letor import slots as slot
from plackett.data.letor.count import count_colons, count_rows
from plackett.data.letor.errors import LineRange, letor_error
from plackett.data.letor.parse import patterns
from plackett.data.letor.parts import Arrays, Part, compact, parse_part, split
from plackett.data.letor.spans import cut_out, run_starts
from plackett.data.letor.tokens import MAX_FEATURE
from plackett.data.strings import Strings

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
class LetorBlock:
    """Arrays of consecutive rows; ``features`` is dense, or the parts of a CSR matrix.

    ``qid_spans`` is where the query ids are in the text, in a block of a single segment. ``no_query`` is the error
    to raise where some line has no query id and that matters.
    """

    options: Options
    width: int
    y: np.ndarray
    qid: np.ndarray | Strings | None
    qid_spans: np.ndarray
    comments: Strings | None
    features: Any
    no_query: DataError | None


def parse_block(segments: list[LineRange], lines: int, options: Options) -> LetorBlock:
    """Parse the lines of ``segments``, before which the file has ``lines`` lines."""
    threads = n_threads(options.n_jobs)
    error_at = partial(letor_error, options.path, segments, lines)
    parts = [part for segment in segments for part in split(segment, threads)]
    threads = min(threads, len(parts))
    with ThreadPoolExecutor(threads) as pool:
        arrays, width = _parse_parts(parts, segments, options, error_at, pool.map if threads > 1 else map)
    states = np.array([part.state for part in parts])
    first_rows = [min(part.row for part in parts if part.segment is segment) for segment in segments]
    rows = [slice(a, b) for a, b in zip(first_rows, [*first_rows[1:], len(arrays.y)], strict=True)]

    qid: np.ndarray | Strings | None = None
    if states[:, slot.NAMED].any():
        qid = cut_out([(s.text, arrays.qid_span[r]) for s, r in zip(segments, rows, strict=True)])
        _refuse_undecodable(qid, arrays.qid_span, segments, rows, error_at)
    elif states[:, slot.QUERIES].any():
        qid = arrays.qid
    comments = None
    if states[:, slot.COMMENTS].any():
        comments = cut_out([(s.text, arrays.comment[r]) for s, r in zip(segments, rows, strict=True)])
    if arrays.dense:
        features: Any = arrays.values.reshape(len(arrays.y), width)
    else:
        features = compact(parts, arrays)
        if states[:, slot.UNSORTED].any():
            features = _sorted(features, width, arrays.comment, segments, rows, error_at)
    no_query = None
    for part, start in zip(parts, states[:, slot.NO_QUERY].tolist(), strict=True):
        if start >= 0:
            no_query = error_at(part.segment, start, fault.NO_QUERY)
            break
    return LetorBlock(options, width, arrays.y, qid, arrays.qid_span, comments, features, no_query)


def _refuse_undecodable(
    qids: Strings,
    qid_spans: np.ndarray,
    segments: list[LineRange],
    rows: list[slice],
    error_at: Callable[..., DataError],
) -> None:
    """Reject query ids that are not UTF-8: decoded with replacements, different ids could become equal."""
    if qids.data.max(initial=0) < 128:
        return
    for row in run_starts(qids).tolist():
        try:
            qids[row].decode("utf-8")
        except UnicodeDecodeError:
            raise error_at(_segment_of(row, segments, rows), int(qid_spans[row, 0]), fault.QID_UTF8) from None


def _segment_of(row: int, segments: list[LineRange], rows: list[slice]) -> LineRange:
    return next(segment for segment, r in zip(segments, rows, strict=True) if r.start <= row < r.stop)


def _parse_parts(
    parts: list[Part],
    segments: list[LineRange],
    options: Options,
    error_at: Callable[..., DataError],
    run: Callable[..., Any],
) -> tuple[Arrays, int]:
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
    fill = np.float32(options.fill)
    sampled = _sampled_width(segments)
    if options.n_features is not None:
        width = options.n_features
    elif options.sparse:
        width = MAX_FEATURE
    else:  # what looks like a huge id may be part of a long comment: then the first pass finds the largest id
        width = 0 if _too_large(rows, sampled, text_bytes) else sampled
    while True:
        if not options.sparse and _too_large(rows, width, math.inf if fixed else text_bytes):
            raise DataError(
                f"{options.path}: {rows} rows and {width} features would make a dense array of "
                f"{4 * rows * width / 2**30:.1f} GiB; read it with sparse=True"
                + ("" if fixed else ", or give n_features if that is intended")
            )
        arrays = Arrays(rows, width, entries if options.sparse else None)
        expected = patterns(min(sampled, width) if options.sparse else width)
        parse = partial(parse_part, arrays=arrays, width=width, fixed=fixed, expected=expected, fill=fill)
        for _ in run(parse, parts):
            pass
        failed = next((part for part in parts if part.error is not None), None)
        if failed is not None and failed.error is not None:
            raise error_at(failed.segment, *failed.error)
        largest = max(int(part.state[slot.MAX_ID]) for part in parts if part.state is not None)
        if fixed:
            return arrays, width
        if options.sparse or largest == width:
            return arrays, largest
        width = largest  # the sampled lines did not have the largest id: once more, now that it is known
        del arrays


def _sampled_width(segments: list[LineRange]) -> int:
    """Largest last feature id of some lines spread over the text: most often the largest of all."""
    largest = 0
    for segment in segments:
        for position in np.linspace(segment.lo, max(segment.hi - 1, segment.lo), _SAMPLED_LINES).astype(np.int64):
            end = segment.line_end(int(position)) if segment.lo < segment.hi else segment.lo
            line = segment.text[max(segment.lo, end - 4096) : end].tobytes()
            line = line[line.rfind(b"\n") + 1 :].split(b"#", 1)[0]
            ids = re.findall(rb"[ \t](\d{1,9}):", line)
            largest = max(largest, int(ids[-1]) if ids else 0)
    return largest


def _too_large(rows: int, width: int, text_bytes: float) -> bool:
    """Whether a dense array would be far larger than its text, or than the memory."""
    size = 4 * rows * width
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf
    return size > _DENSE_BYTES and (size > _DENSE_RATIO * text_bytes or size > memory)


def _sorted(
    features: tuple[np.ndarray, np.ndarray, np.ndarray],
    width: int,
    line_ends: np.ndarray,
    segments: list[LineRange],
    rows: list[slice],
    error_at: Callable[..., DataError],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort the entries of each row by feature; an error if one appears twice."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(features, shape=(len(line_ends), width))
    matrix.sort_indices()
    repeated = np.flatnonzero(matrix.indices[1:] == matrix.indices[:-1]) + 1
    repeated = repeated[~np.isin(repeated, matrix.indptr)]
    if repeated.size:
        row = int(np.searchsorted(matrix.indptr, repeated[0], side="right")) - 1
        segment = _segment_of(row, segments, rows)
        end = int(line_ends[row, 0])
        start = segment.line_start(end)
        token = rb"(?<=[ \t])0*%d:" % (matrix.indices[repeated[0]] + 1)
        second = list(re.finditer(token, segment.text[start:end].tobytes()))[1]
        raise error_at(segment, start + second.start(), fault.ID_TWICE)
    return matrix.data, matrix.indices, matrix.indptr
