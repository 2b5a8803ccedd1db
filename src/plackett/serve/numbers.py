"""JSON whose long arrays of numbers become NumPy arrays without a Python object per number.

A kernel looks for arrays of numbers, flat or as rows of equal length, and reads them exactly as Python's `float` does.
In the text each is replaced by a short mark, and what remains goes through an ordinary JSON parser. Whatever the kernel
does not understand it leaves to that parser, which also finds the errors.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._names.optional import optional
from plackett.data.letor.floats import NONE, decimal
from plackett.data.letor.words import PADDING, digits, eight_digits, leading_digits, load
from plackett.serve.http import RefusedError

#: Shorter arrays are left to the parser.
_LEAST = 32
#: Shorter bodies too.
_LEAST_BODY = 512
#: Objects and lists that a document may have.
_PARTS = 4
#: Bytes after the text that the kernel may read.
_PAD = bytes(PADDING)
#: What other writers of JSON put where a number is missing or too large.
_NOT_JSON = (b"NaN", b"nan", b"Infinity", b"-Infinity", b"inf", b"-inf")
#: Starts the marks. Clients cannot know it.
_MARK = os.urandom(12).hex()
#: Fields of a span: begin and end in the text, rows and columns (-1: flat), first value, whether all are whole numbers.
_SPAN = 6

_ZERO = np.uint64(0)
_TENS = np.array([10**n for n in range(9)], np.uint64)
#: A number below this can take n more digits.
_ROOM = np.array([10 ** (19 - n) for n in range(9)], np.uint64)
_MOST_EXPONENT, _MOST_WHOLE = np.uint64(400), np.uint64(2**53)


class Decoded:
    """A JSON document and the arrays that were taken out of it.

    Attributes
    ----------
    value
        The document; `array` finds what stands for an array.
    """

    __slots__ = ("_arrays", "value")

    def __init__(self, value: Any, arrays: dict[str, tuple[np.ndarray, bool]]) -> None:
        self.value, self._arrays = value, arrays

    def array(self, value: Any) -> np.ndarray | None:
        """The array (float64, NaN for null) that a part of the document stands for; None if it is not a mark."""
        entry = self._arrays.get(value) if isinstance(value, str) else None
        return None if entry is None else entry[0]

    def plain(self, value: Any) -> Any:
        """A part of the document as an ordinary parser would return it, for what is not features (ids, say)."""
        entry = self._arrays.get(value) if isinstance(value, str) else None
        if entry is None:
            return value
        array, whole = entry
        return array.astype(np.int64).tolist() if whole else array.tolist()


def decode(body: bytes, max_documents: int = 100_000) -> Decoded:
    """Parse a JSON body; long arrays of numbers become arrays.

    What has more objects and lists than so many documents need is refused (413): an object of two bytes takes sixty
    in memory, and no other request is answered while millions of them are made.

    >>> decoded = decode(b'{"ids": ["a"], "features": [' + b", ".join([b"[1, null]"] * 99) + b"]}")
    >>> decoded.value["ids"], decoded.array(decoded.value["features"]).shape
    (['a'], (99, 2))
    """
    orjson = optional("orjson", "the service needs")
    arrays: dict[str, tuple[np.ndarray, bool]] = {}
    text = body
    if len(body) >= _LEAST_BODY:
        padded = np.frombuffer(body + _PAD, np.uint8)
        values = np.empty(len(body) // 2 + 1)
        spans = np.empty((len(body) // (2 * _LEAST) + 1, _SPAN), np.int64)
        n_arrays = _find_arrays(padded, len(body), values, spans)
        pieces, last = [], 0
        for i, (begin, end, rows, columns, first, whole) in enumerate(spans[:n_arrays].tolist()):
            mark = f"{_MARK}{i}"
            pieces += [body[last:begin], b'"', mark.encode(), b'"']
            last = end
            array = values[first : first + rows * max(columns, 1)]
            arrays[mark] = (array if columns < 0 else array.reshape(rows, columns)), bool(whole)
        if pieces:
            text = b"".join([*pieces, body[last:]])
    parts, most = text.count(b"{") + text.count(b"["), _PARTS * max_documents + _LEAST_BODY
    if parts > most:
        raise RefusedError(413, f"the JSON has {parts} objects and lists; at most {most} are accepted")
    try:
        return Decoded(orjson.loads(text), arrays)
    except orjson.JSONDecodeError:
        return Decoded(_whole(orjson, body), {})


def _whole(orjson: Any, body: bytes) -> Any:
    """Parse the text as it came: positions in the shortened one would mislead."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        at = getattr(error, "pos", 0)
        named = any(body.startswith(word, max(at - 1, 0)) or body.startswith(word, at) for word in _NOT_JSON)
        hint = "; NaN and infinity are not part of JSON: a missing value is null" if named else ""
        raise RefusedError(400, f"the body is not JSON: {error}{hint}") from None


def warm_up() -> None:
    """Compile the kernel, or load it from the cache."""
    decode(b"[" + b"1.5," * _LEAST_BODY + b"1]")


@kernel
def _skip(buf, at):
    """Position of the next byte that is not white space."""
    while buf[at] == 32 or buf[at] == 10 or buf[at] == 13 or buf[at] == 9:
        at += 1
    return at


@kernel(inline=True)
def _digits(buf, at, m):
    """Append the digits from ``at`` on to ``m``; returns it and the position after them, -1 if it gets too large."""
    while True:
        word = load(buf, at)
        n = leading_digits(word)
        if m >= _ROOM[n]:
            return m, np.int64(-1)
        if n < 8:
            return m * _TENS[n] + digits(word, n), at + n
        m = m * _TENS[8] + eight_digits(word)
        at += 8


@kernel(inline=True)
def _number(buf, at):
    """Read a number of JSON's grammar: value, position after it (-1: left to the parser), whether it is a whole one."""
    negative = buf[at] == 45
    if negative:
        at += 1
    start = at
    m, at = _digits(buf, at, _ZERO)
    if at <= start or (buf[start] == 48 and at > start + 1):  # no digit, or a zero before others
        return 0.0, np.int64(-1), False
    e = np.int64(0)
    whole = True
    if buf[at] == 46:
        start = at + 1
        m, at = _digits(buf, start, m)
        if at <= start:
            return 0.0, np.int64(-1), False
        e = start - at
        whole = False
    if buf[at] | 32 == 101:
        down = buf[at + 1] == 45
        start = at + 1 + (down or buf[at + 1] == 43)
        power, at = _digits(buf, start, _ZERO)
        if at <= start or power > _MOST_EXPONENT:
            return 0.0, np.int64(-1), False
        e += -np.int64(power) if down else np.int64(power)
        whole = False
    value, sure = decimal(m, e, NONE)
    if not sure or (whole and m > _MOST_WHOLE):
        return 0.0, np.int64(-1), False
    return (-value if negative else value), at, whole


@kernel
def _read_array(buf, at, values, first):
    """Read the array whose bracket is at ``at``: position after it (-1: not numbers), rows, columns, whole or not."""
    at = _skip(buf, at + 1)
    nested = buf[at] == 91
    n, rows, columns, in_row = first, 0, -1, 0
    all_whole = True
    if nested:
        at = _skip(buf, at + 1)
    while True:
        if buf[at] == 110:  # null
            if not (buf[at + 1] == 117 and buf[at + 2] == 108 and buf[at + 3] == 108):
                return -1, 0, 0, False
            values[n] = np.nan
            all_whole = False
            at += 4
        else:
            value, at, whole = _number(buf, at)
            if at < 0:
                return -1, 0, 0, False
            values[n] = value
            all_whole &= whole
        n += 1
        in_row += 1
        at = _skip(buf, at)
        if buf[at] == 93 and nested:  # the end of a row
            if columns < 0:
                columns = in_row
            if columns != in_row:
                return -1, 0, 0, False
            rows += 1
            in_row = 0
            at = _skip(buf, at + 1)
            if buf[at] == 93:
                return at + 1, rows, columns, all_whole
            if buf[at] != 44:
                return -1, 0, 0, False
            at = _skip(buf, at + 1)
            if buf[at] != 91:
                return -1, 0, 0, False
            at = _skip(buf, at + 1)
        elif buf[at] == 93:
            return at + 1, in_row, -1, all_whole
        elif buf[at] == 44:
            at = _skip(buf, at + 1)
        else:
            return -1, 0, 0, False


@kernel
def _find_arrays(buf, size, values, spans):
    """Find the long arrays of numbers outside strings; returns how many there are."""
    at, n_arrays, first = 0, 0, 0
    while at < size:
        c = buf[at]
        if c == 34:  # a string
            at += 1
            while at < size and buf[at] != 34:
                at += 2 if buf[at] == 92 else 1
            at += 1
        elif c == 91:
            end, rows, columns, whole = _read_array(buf, at, values, first)
            count = rows * max(columns, 1)
            if end > size or end < 0 or count < _LEAST:
                at += 1
                continue
            spans[n_arrays, 0], spans[n_arrays, 1], spans[n_arrays, 2] = at, end, rows
            spans[n_arrays, 3], spans[n_arrays, 4], spans[n_arrays, 5] = columns, first, whole
            n_arrays += 1
            first += count
            at = end
        else:
            at += 1
    return n_arrays
