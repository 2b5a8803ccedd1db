"""Write datasets as LETOR text."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, PlackettWarning, in_shell, parameter
from plackett._files.compression import replacing_compressed
from plackett._kernels.cores import n_threads
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.fields import NUMBERS
from plackett.data.frame_columns import first_missing
from plackett.data.letor.float_text import LONGEST, put_number, put_whole
from plackett.data.letor.floats import NONE
from plackett.data.read_only import read_only
from plackett.data.required import check_dataset
from plackett.data.strings import Strings

__all__ = ["write_letor"]

#: Room for the text of the rows that are formatted at once.
_BUFFER = 1 << 23
_U = np.uint64
_QID = np.frombuffer(b" qid:", np.uint8)


def write_letor(
    data: RankingDataset,
    path: str | os.PathLike[str],
    *,
    comments: bool = True,
    qids: Literal["keep", "number"] = "keep",
    n_jobs: int | None = None,
) -> None:
    r"""Write a dataset in LETOR format, so that `read_letor` restores the same dataset.

    Rows are written in grouped order. Values have the fewest digits that read back as the same number in single
    precision, missing values are ``NULL``, whole labels have no point. A dense array is written with all its zeros, a
    sparse matrix with the entries that it holds. The file appears only when it is complete.

    The format cannot record two things: empty last columns of a sparse matrix, and that query ids are strings if all
    of them look like integers.

    Parameters
    ----------
    data
        The dataset. The format has no feature names, so they are left out; so are weights, positions, subtopics,
        preferences, relations and query features, with a warning.
    path
        The file; the suffixes ``.gz``, ``.xz`` and ``.zst`` compress it.
    comments
        Write the comments or, where there are none, the document ids as ``#docid = …``.
    qids
        ``"keep"`` writes the query ids as they are, and refuses ids with blanks, ``#`` or control characters, which
        the format cannot hold. ``"number"`` writes 1, 2, 3, … in the order of the queries instead.
    n_jobs
        Number of threads, by default all cores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> write_letor(RankingDataset.from_arrays([[0.1, 3.0]], [1], qid=["a"], docids=["d1"]), path)
    >>> path.read_text()
    '1 qid:a 1:0.1 2:3 #docid = d1\n'
    """
    labels, label_of_row = np.unique(check_dataset(data).labels, return_inverse=True)
    texts = Strings.from_values([_label(label) for label in labels.tolist()])
    _say_what_is_lost(data, path)
    choice("qids", qids, ("keep", "number"))
    ids = data.qids if qids == "keep" else np.arange(1, data.n_queries + 1)
    names = Strings.from_values(ids)
    _check_ids(names, path)
    _check_words(ids, path)
    tails = _tails(data) if comments else Strings.from_values([])
    X = data.X
    if isinstance(X, np.ndarray):
        dense, values = True, X.reshape(-1)
        columns, pointers = np.empty(0, np.int32), np.arange(data.n_rows + 1) * data.n_features
    else:
        dense, values = False, X.data.astype(np.float32, copy=False)
        columns, pointers = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)
    if np.isinf(values).any():
        raise DataError("a feature is infinite; a feature is a finite number or NaN for a missing value")
    text_offsets = _text_offsets(pointers, texts.lengths[label_of_row], names.lengths[data.query_of_row], tails)
    arrays = (
        texts.data, texts.offsets, label_of_row, names.data, names.offsets, data.query_of_row,
        tails.data, tails.offsets, values, columns, pointers,
    )  # fmt: skip
    arguments = (dense, *map(read_only, arrays))

    def text(rows: tuple[int, int]) -> memoryview:
        out = np.empty(int(text_offsets[rows[1]] - text_offsets[rows[0]]), np.uint8)
        return out[: _format(rows[0], rows[1], out, *arguments)].data

    threads = n_threads(n_jobs)
    with replacing_compressed(path) as file, ThreadPoolExecutor(threads) as pool:
        for batch in _batches(text_offsets, threads):
            for part in pool.map(text, batch):
                file.write(part)


def _label(label: float) -> str:
    return str(int(label)) if label.is_integer() and abs(label) < 2**53 else repr(label)


#: Fields of a dataset that LETOR text cannot hold.
_LOST = (*(name for name in NUMBERS if name != "y"), "preferences", "relations", "categories")


def _say_what_is_lost(data: RankingDataset, path: Any) -> None:
    lost = [name for name in _LOST if getattr(data, name) is not None]
    if lost:
        warnings.warn(
            f"{path}: LETOR text cannot hold {', '.join(lost)}; left out. A .plackett file keeps everything",
            PlackettWarning,
            stacklevel=3,
        )


def _check_ids(qids: Strings, path: Any) -> None:
    bad = (qids.data <= 32) | (qids.data == 35) | (qids.data == 127)
    empty = qids.lengths == 0
    if bad.any() or empty.any():
        query = int(np.searchsorted(qids.offsets, np.flatnonzero(bad)[0], "right") - 1 if bad.any() else empty.argmax())
        numbered = parameter("qids", "'number'")
        raise DataError(
            f"{path}: the query id {qids[query].decode('utf-8', 'replace')!r} cannot be written as LETOR text: "
            "it must not be empty and must not hold blanks, control characters or '#'. Write .plackett, .parquet or "
            f".csv, or number the queries with {numbered}"
        )


def _check_words(qids: np.ndarray, path: Any) -> None:
    query = first_missing(qids)
    if query is not None:
        raise DataError(
            f"{path}: the query id {str(qids[query])!r} would be read as a missing one, because all others are whole "
            f"numbers. Write .plackett or .parquet, or number the queries with {parameter('qids', repr('number'))}"
        )


def _tails(data: RankingDataset) -> Strings:
    """The text after '#' in each row."""
    if data.comments is not None:
        tails, name = data.comments, "comment"
    elif data.docids is not None:
        ids = np.asarray(data.docids)
        prefixed = np.char.add if ids.dtype.kind in "US" else np.strings.add
        texts = ids.astype(np.dtypes.StringDType())
        tails, name = Strings.from_values(np.where(texts == "", "", prefixed("docid = ", texts))), "document id"
    else:
        return Strings.from_values([])
    ends = tails.offsets[1:][tails.lengths > 0] - 1
    if (tails.data == 10).any() or (tails.data[ends] == 13).any():
        raise DataError(
            f"a {name} holds a line break and cannot be written as LETOR text; write .plackett or .parquet"
            f"{'' if in_shell() else ', or pass comments=False'}"
        )
    return tails


def _text_offsets(pointers: np.ndarray, *lengths: Any) -> np.ndarray:
    """Bytes that the rows before each row take at most."""
    *fields, tails = lengths
    size = (LONGEST + 12) * np.diff(pointers) + sum(fields) + 16
    if len(tails):
        size = size + tails.lengths
    return np.concatenate(([0], np.cumsum(size)))


def _batches(text_offsets: np.ndarray, threads: int) -> Iterator[list[tuple[int, int]]]:
    """Ranges of rows whose text fits into a buffer, as many at a time as there are threads."""
    batch: list[tuple[int, int]] = []
    lo, n_rows = 0, text_offsets.size - 1
    while lo < n_rows:
        hi = max(lo + 1, int(np.searchsorted(text_offsets, text_offsets[lo] + _BUFFER, "right")) - 1)
        batch.append((lo, hi))
        lo = hi
        if len(batch) == threads:
            yield batch
            batch = []
    if batch:
        yield batch


@kernel
def _put_text(out, at, data, offsets, i):
    start = offsets[i]
    size = offsets[i + 1] - start
    for j in range(size):
        out[at + j] = data[start + j]
    return at + size


@kernel
def _format(
    lo, hi, out, dense, labels, label_offsets, label_of_row, qids, qid_offsets, query_of_row,
    tails, tail_offsets, values, columns, pointers,
):  # fmt: skip
    """Text of the rows ``[lo, hi)``; its size."""
    at = NONE
    for row in range(lo, hi):
        at = _put_text(out, at, labels, label_offsets, label_of_row[row])
        for c in _QID:
            out[at] = c
            at += 1
        at = _put_text(out, at, qids, qid_offsets, query_of_row[row])
        start = pointers[row]
        for j in range(start, pointers[row + 1]):
            out[at] = 32
            column = j - start if dense else np.int64(columns[j])
            at = put_whole(out, at + 1, _U(column + 1))
            out[at] = 58
            at = put_number(out, at + 1, values[j])
        if tail_offsets.size > 1 and tail_offsets[row + 1] > tail_offsets[row]:
            out[at] = 32
            out[at + 1] = 35
            at = _put_text(out, at + 2, tails, tail_offsets, row)
        out[at] = 10
        at += 1
    return at
