"""Error messages that locate a problem in a LETOR file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError, in_shell
from plackett.data.letor import faults as fault
from plackett.data.letor.tokens import MAX_FEATURE, MAX_QID

_BLOCK = 1 << 24

_MESSAGES = {
    fault.LABEL: ("a label was expected", "a line begins with a number, 'label qid:id 1:value 2:value # comment'"),
    fault.LABEL_MISSING: ("the label is missing", "write -1 for an unjudged document"),
    fault.LABEL_INFINITE: ("the label is infinite", "labels are finite numbers"),
    fault.LABEL_LONG: ("the label has too many characters", "write it with fewer digits"),
    fault.QID_EMPTY: ("the query id is empty", "write qid: and an id, without a blank between them"),
    fault.QID_LONG: (f"the query id is longer than {MAX_QID} bytes", "use shorter ids"),
    fault.QID_BYTE: ("the query id contains a control character", "use printable ids"),
    fault.QID_UTF8: ("the query id is not UTF-8", "convert the file to UTF-8"),
    fault.QID_MISSING: ("the query id is missing, among whole numbers", "every line needs the id of its query"),
    fault.NO_QUERY: (
        "a line without query",
        "write qid:id after every label, or give the sizes of the queries with group=",
    ),
    fault.QUERY_AGAIN: (
        "the rows of a query are not contiguous",
        "sort the file by query, or read it as a whole with read_letor",
    ),
    fault.TOKEN: ("'feature:value' was expected", "a feature is a whole number from 1 on, a colon and a number"),
    fault.ID_ZERO: ("feature ids begin at 1, found 0", "add 1 to every feature id"),
    fault.ID_NEGATIVE: ("a feature id is negative", "feature ids are whole numbers from 1 on"),
    fault.ID_LARGE: (f"a feature id is larger than {MAX_FEATURE}", "number the features from 1 on, without gaps"),
    fault.ID_BEYOND: ("a feature id is larger than n_features", "give a larger n_features, or none"),
    fault.ID_TWICE: ("a feature appears twice in one line", "keep one of them"),
    fault.VALUE: ("a feature value is not a number", "write a decimal number, or NULL for a missing value"),
    fault.VALUE_INFINITE: (
        "a feature value is infinite or too large for single precision",
        "write NULL for a missing value, or scale the feature",
    ),
    fault.VALUE_LONG: ("a feature value has too many characters", "write it with fewer digits"),
}


@dataclass(frozen=True)
class LineRange:
    """A range of whole lines in a byte array; the kernels' conditions on a text hold for it."""

    text: np.ndarray
    lo: int
    hi: int

    def lines_before(self, at: int) -> int:
        """Number of lines of this segment that end before the byte ``at``."""
        return sum(
            int(np.count_nonzero(self.text[start : min(start + _BLOCK, at)] == 10))
            for start in range(self.lo, at, _BLOCK)
        )

    def line_start(self, at: int) -> int:
        """First byte of the line that the byte ``at`` belongs to."""
        step = 256
        end = at
        while end > self.lo:
            start = max(self.lo, end - step)
            newlines = np.flatnonzero(self.text[start:end] == 10)
            if newlines.size:
                return start + int(newlines[-1]) + 1
            end, step = start, step * 4
        return self.lo

    def line_end(self, at: int) -> int:
        """The newline that ends the line that the byte ``at`` belongs to."""
        step = 1024
        while True:
            length = self.text[at : at + step].tobytes().find(b"\n")
            if length >= 0:
                return at + length
            at, step = at + step, step * 4


def _excerpt(text: np.ndarray, at: int) -> str:
    token = re.split(rb"[ \t\r\n]", text[at : at + 41].tobytes(), maxsplit=1)[0]
    if not token:
        return "a blank" if text[at] in b" \t" else "the end of the line"
    shown = token[:40].decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)
    return f"'{shown}'" + ("…" if len(token) > 40 else "")


def letor_error(
    path: str, segments: Iterable[LineRange], lines: int, segment: LineRange, at: int, what: int
) -> DataError:
    """Error at the byte ``at`` of one of the segments, with ``lines`` lines of the file before the first."""
    for one in segments:
        if one is segment:
            break
        lines += one.lines_before(one.hi)
    line = 1 + lines + segment.lines_before(at)
    column = 1 + at - segment.line_start(at)
    problem, advice = _MESSAGES[what]
    if what == fault.NO_QUERY and in_shell():
        advice = "write qid:id after every label"
    return DataError(f"{path}, line {line}, column {column}: {problem}: {_excerpt(segment.text, at)}; {advice}")
