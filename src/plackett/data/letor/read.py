"""LETOR and SVMlight text: ``label qid:id 1:value 2:value … # comment``, one document per line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from plackett._base.arguments import choice, whole, whole_or_none
from plackett._base.errors import DataError, PartsError
from plackett.data.dataset import RankingDataset
from plackett.data.frame_columns import first_missing
from plackett.data.letor import faults as fault
from plackett.data.letor.block import LetorBlock, Options, parse_block
from plackett.data.letor.dataset import to_dataset
from plackett.data.letor.errors import letor_error
from plackett.data.letor.source import LineBlocks, is_regular, mapped
from plackett.data.letor.spans import run_starts
from plackett.data.letor.tokens import MAX_FEATURE
from plackett.data.strings import Strings

__all__ = ["read_letor", "read_letor_chunks"]

#: Text that is parsed at once where a file cannot be mapped.
_BLOCK_BYTES = 1 << 25


def read_letor(
    path: str | os.PathLike[str],
    *,
    sparse: bool = False,
    n_features: int | None = None,
    group: Sequence[int] | np.ndarray | str | os.PathLike[str] | None = None,
    missing: Literal["zero", "nan"] = "zero",
    mmap: bool = True,
    n_jobs: int | None = None,
) -> RankingDataset:
    r"""Read a file in LETOR or SVMlight format.

    A line is a label, ``qid:`` with a query id, features ``id:value`` and a comment after ``#``. Labels are any
    finite numbers. Feature ids begin at 1 and may come in any order, each at most once. Values are what Python's
    ``float`` makes of the text, rounded to single precision; ``NULL`` and ``nan`` are missing values (NaN). Lines that
    are empty or hold only a comment are skipped; CRLF, tabs and a byte order mark are accepted.

    Query ids become int64 if all of them are plain integers, otherwise strings; ``qid:nan`` among integers, and other
    words for a missing value, are an error. The rows of a query need not be
    contiguous: they are grouped, and `RankingDataset.to_input_order` restores the order. Comments are kept byte for
    byte; ids in LETOR's form ``#docid = …`` are in ``docids``, and `letor_comment_fields` has the rest.

    Parameters
    ----------
    path
        The file; compressed ones (gzip, xz, Zstandard) are recognised by their content.
    sparse
        Store the features as a SciPy CSR matrix instead of a dense array.
    n_features
        Number of features; by default the largest id in the file.
    group
        For files without query ids: the number of rows of each query, or the path of a file with one number per line.
        By default ``path + ".query"`` is used if it exists (LightGBM's convention). Queries are then numbered
        from 0.
    missing
        Value of a feature that a line does not list: ``"zero"``, as in SVMlight, or ``"nan"``, missing.
    mmap
        Map a plain file into memory while it is parsed, which is fastest. False reads it piece by piece, for a file
        that another program may cut short at the same time: the system kills a process that reads a missing part of a
        mapped file (SIGBUS).
    n_jobs
        Number of threads, by default all cores.

    Raises
    ------
    DataError
        With the file, line and column of the problem. Also raised for a dense array far larger than the text (a single
        huge feature id).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> _ = path.write_text("2 qid:7 1:0.5 3:NULL # docid = a\n0 qid:7 2:1.5\n")
    >>> data = read_letor(path)
    >>> data.X
    array([[0.5, 0. , nan],
           [0. , 1.5, 0. ]], dtype=float32)
    >>> data.qids.tolist(), data.y.tolist(), data.docids.tolist()
    ([7], [2.0, 0.0], ['a', ''])

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu and H. Li, "LETOR: A benchmark collection for research on learning to rank for
    information retrieval", Information Retrieval 13, 2010. T. Joachims, "Making large-scale SVM learning practical",
    1999.
    """
    options = _options(path, sparse, n_features, missing, n_jobs)
    segments = mapped(options.path) if mmap else None
    if segments is not None:
        return _checked(to_dataset([parse_block(segments, 0, options)], group), options.path)
    source = LineBlocks(options.path, _BLOCK_BYTES)
    blocks: list[LetorBlock] = []
    lines = 0
    while not source.ended:
        segment = source.read()
        blocks.append(parse_block([segment], lines, options))
        lines += segment.lines_before(segment.hi)
    return _checked(to_dataset(blocks, group), options.path)


def _checked(data: RankingDataset, path: str) -> RankingDataset:
    """The data; an error if a query id is a word such as ``nan`` and all others are whole numbers."""
    _refuse_missing(data.qids, path)
    return data


def _refuse_missing(qids: np.ndarray, path: str) -> None:
    """An error, with the line where the path can be read again, if a query id is missing among whole numbers."""
    query = first_missing(qids)
    if query is None:
        return
    token = b"qid:" + str(qids[query]).encode()
    source, lines = LineBlocks(path, _BLOCK_BYTES) if is_regular(path) else None, 0
    while source is not None and not source.ended:
        segment = source.read()
        match = re.search(rb"(?m)^[^#\n]*?[ \t]" + token + rb"(?=[ \t\r\n#])", segment.text[: segment.hi].tobytes())
        if match:
            raise letor_error(path, [segment], lines, segment, match.end() - len(token), fault.QID_MISSING)
        lines += segment.lines_before(segment.hi)
    raise DataError(f"{path}: the query id is missing, among whole numbers: {token.decode()!r}")


def read_letor_chunks(
    path: str | os.PathLike[str],
    *,
    chunk_bytes: int = 1 << 26,
    sparse: bool = False,
    n_features: int | None = None,
    missing: Literal["zero", "nan"] = "zero",
    n_jobs: int | None = None,
) -> Iterator[RankingDataset]:
    r"""Read a file in LETOR or SVMlight format part by part, for files larger than the memory.

    Each dataset has the queries of about ``chunk_bytes`` bytes of text. A query is never split: a chunk grows if a
    query is longer. So the rows of a query must be contiguous in the file; a query that reappears later is an
    error. Memory is that of one chunk, and of the query ids seen so far.

    All chunks have the same number of features. Without ``n_features`` the file is read twice, first to find the
    largest feature id, and errors anywhere in it are found before the first chunk. Query ids are integers in a chunk
    where all ids of that chunk are; ``qid:nan`` among integers is an error, raised after the last chunk.

    Parameters
    ----------
    path, sparse, n_features, missing, n_jobs
        As in `read_letor`.
    chunk_bytes
        Text per chunk, decompressed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> _ = path.write_text("2 qid:1 1:0.5\n0 qid:1 2:1\n1 qid:2 2:3\n")
    >>> [chunk.y.tolist() for chunk in read_letor_chunks(path, chunk_bytes=1)]
    [[2.0, 0.0], [1.0]]
    """
    check_chunk_bytes(chunk_bytes)
    options = _options(path, sparse, n_features, missing, n_jobs)
    if not is_regular(options.path) and n_features is None:
        raise DataError(f"{options.path} is not a regular file and can be read only once: give n_features")
    return _chunks(options, chunk_bytes)


def check_chunk_bytes(chunk_bytes: Any) -> None:
    """An error unless this is a number of bytes."""
    whole("chunk_bytes", chunk_bytes, least=1)


def _options(path: Any, sparse: bool, n_features: int | None, missing: str, n_jobs: int | None) -> Options:
    fills = {"zero": 0.0, "nan": np.nan}
    choice("missing", missing, fills)
    if sparse and missing == "nan":
        raise DataError("features that a sparse matrix does not hold are zero: missing='nan' needs sparse=False")
    whole_or_none("n_features", n_features, least=0, most=MAX_FEATURE)
    width = None if n_features is None else int(n_features)
    return Options(os.fsdecode(path), sparse, width, fills[missing], n_jobs)


def _chunks(options: Options, chunk_bytes: int) -> Iterator[RankingDataset]:
    if options.n_features is None:
        options = replace(options, n_features=_largest_feature(options))
    source = LineBlocks(options.path, chunk_bytes)
    seen: dict[Any, None] = {}  # in the order of the file
    lines = 0
    before = b""
    while not source.ended:
        segment = source.read(before)
        block = parse_block([segment], lines, options)
        if block.no_query is not None:  # their sizes may be in a file of their own
            raise PartsError(str(block.no_query))
        starts = run_starts(block.qid) if block.qid is not None else np.zeros(1, np.int64)
        if source.ended or block.qid is None:
            cut, end = len(block.y), segment.hi
        else:  # the last query may continue in the text that follows
            cut = int(starts[-1])
            end = segment.line_start(int(block.qid_spans[cut, 0]))
        if cut:
            _refuse_seen(
                block, starts[starts < cut], seen, partial(letor_error, options.path, [segment], lines, segment)
            )
            yield to_dataset([_head(block, cut)], None)
        elif block.qid is not None:
            source.size = 2 * (segment.hi - segment.lo)
        before = segment.text[end : segment.hi].tobytes()
        lines += segment.lines_before(end)
    if not seen:
        raise DataError(f"{options.path}: no rows; the file is empty or holds nothing but comments")
    _refuse_missing(np.array([qid.decode() for qid in seen], np.dtypes.StringDType()), options.path)


def _largest_feature(options: Options) -> int:
    """Read the file once for its largest feature id."""
    source = LineBlocks(options.path, _BLOCK_BYTES)
    options = replace(options, sparse=True)
    largest = lines = 0
    while not source.ended:
        segment = source.read()
        largest = max(largest, parse_block([segment], lines, options).width)
        lines += segment.lines_before(segment.hi)
    return largest


def _refuse_seen(
    block: LetorBlock, starts: np.ndarray, seen: dict[Any, None], error_at: Callable[..., DataError]
) -> None:
    """Remember the queries that begin in the rows ``starts``; an error where one was seen before."""
    assert block.qid is not None
    for row in starts.tolist():
        qid = block.qid[row] if isinstance(block.qid, Strings) else b"%d" % block.qid[row]
        if qid in seen:
            raise PartsError(str(error_at(int(block.qid_spans[row, 0]), fault.QUERY_AGAIN)))
        seen[qid] = None


def _head(block: LetorBlock, n: int) -> LetorBlock:
    """The first ``n`` rows of a block."""
    features = block.features
    if block.options.sparse:
        values, columns, pointers = features
        features = (values[: pointers[n]], columns[: pointers[n]], pointers[: n + 1])
    else:
        features = features[:n]

    def first(column: Any) -> Any:
        return Strings(column.data, column.offsets[: n + 1]) if isinstance(column, Strings) else column[:n]

    comments = None if block.comments is None else first(block.comments)
    return replace(block, y=block.y[:n], qid=first(block.qid), comments=comments, features=features)
