"""What LETOR writes into its comments: ``docid = GX000-00-0000000 inc = 1 prob = 0.0246906``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.letor.floats import OK, PYTHON, read_number
from plackett.data.letor.spans import cut_out
from plackett.data.letor.tokens import MAX_QID
from plackett.data.letor.words import PADDING
from plackett.data.read_only import read_only
from plackett.data.strings import Strings

__all__ = ["letor_comment_fields"]


class LetorFields(NamedTuple):
    """Fields of LETOR's comments, one entry per row: see `letor_comment_fields`."""

    docid: np.ndarray
    inc: np.ndarray
    prob: np.ndarray


def letor_comment_fields(data: RankingDataset) -> LetorFields:
    """Document id, ``inc`` and ``prob`` of LETOR's comments, in the grouped order of the dataset.

    LETOR 4.0 writes ``#docid = … inc = … prob = …`` at the end of each line; ``inc`` and ``prob`` describe how the
    document came into the sample that was judged. A row without such a field has the id ``""`` and NaN.

    >>> import plackett.data.letor as letor, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = path.write_text("1 qid:1 1:0.5 #docid = D7 inc = 1 prob = 0.25")
    >>> letor_comment_fields(letor.read_letor(path))
    LetorFields(docid=array(['D7'], dtype=StringDType()), inc=array([1.]), prob=array([0.25]))

    References
    ----------
    Qin, Liu: Introducing LETOR 4.0 datasets. arXiv 2013.
    """
    comments = data.comments if data.comments is not None else Strings.from_values([""] * data.n_rows)
    return LetorFields(
        cut_out([(comments.data, _docid_spans(comments))]).to_numpy(),
        _numbers(comments, "inc"),
        _numbers(comments, "prob"),
    )


def docids_of(comments: Strings) -> np.ndarray | None:
    """Document ids of LETOR's comments, ``""`` where there is none; None where no comment has one.

    Anything longer than the limit for query ids is not taken for an id.
    """
    spans = _docid_spans(comments)
    return cut_out([(comments.data, spans)]).to_numpy() if spans.any() else None


def _docid_spans(comments: Strings) -> np.ndarray:
    spans = _spans(comments, "docid")
    spans[spans[:, 1] - spans[:, 0] > MAX_QID] = 0
    return spans


def _spans(comments: Strings, key: str) -> np.ndarray:
    spans = np.zeros((len(comments), 2), np.int64)
    _find_field(read_only(comments.data), read_only(comments.offsets), np.frombuffer(key.encode(), np.uint8), spans)
    return spans


def _numbers(comments: Strings, key: str) -> np.ndarray:
    spans = _spans(comments, key)
    text = np.concatenate([comments.data, np.zeros(PADDING, np.uint8)])
    values = np.full(len(comments), np.nan)
    open_rows = _read_fields(text, spans, values)
    for row in open_rows.tolist():
        values[row] = float(text[spans[row, 0] : spans[row, 1]].tobytes())
    return values


@kernel
def _find_field(data, offsets, key, spans):
    """Begin and end of the word after ``key =`` in each entry."""
    for i in range(offsets.size - 1):
        at = offsets[i]
        end = offsets[i + 1]
        while at < end:
            while at < end and data[at] <= 32:
                at += 1
            j = 0
            while j < key.size and at + j < end and data[at + j] == key[j]:
                j += 1
            p = at + j
            while p < end and data[p] <= 32:
                p += 1
            if j == key.size and p < end and data[p] == 61:
                p += 1
                while p < end and data[p] <= 32:
                    p += 1
                spans[i, 0] = p
                while p < end and data[p] > 32:
                    p += 1
                spans[i, 1] = p
                break
            while at < end and data[at] > 32:
                at += 1


@kernel
def _read_fields(text, spans, values):
    """Read the numbers; rows whose number only Python reads exactly."""
    open_rows = np.empty(spans.shape[0], np.int64)
    n = 0
    for i in range(spans.shape[0]):
        if spans[i, 1] > spans[i, 0]:
            status, value, end = read_number(text, spans[i, 0])
            if end == spans[i, 1] and status == OK:
                values[i] = value
            elif end == spans[i, 1] and status == PYTHON:
                open_rows[n] = i
                n += 1
    return open_rows[:n]
