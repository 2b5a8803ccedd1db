"""What an Arrow stream asks for, read from its metadata before anything of it is decoded.

A few kilobytes can stand for gigabytes: compressed buffers, buffers and names that are used many times, columns within
columns. The reader of pyarrow has no limit, so the messages are looked at first. Their metadata are FlatBuffers, in
which a table finds its fields by number; the numbers are those of Arrow's ``Message.fbs`` and ``Schema.fbs``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from plackett.serve.http import RefusedError

#: Most messages of a stream: its schema, dictionaries, batches of rows.
_MESSAGES = 1_000
#: Bytes that an entry of the schema counts for besides its text.
_ENTRY = 64
#: How numbers are read, by the letter of `struct`.
_FORMS = {form: struct.Struct(f"<{form}") for form in "BHiIq"}
_SCHEMA, _DICTIONARIES, _ROWS = 1, 2, 3
_TIMESTAMP = 10
#: Numbers that are read of the places of a table's fields; no table has more fields that matter here.
_MOST_FIELDS = 9
#: The version of the metadata since Arrow 1.0; before it compression was noted elsewhere.
_VERSION = 4


def check_stream(body: bytes, most_bytes: int, most_rows: int, most_columns: int) -> None:
    """Refuse (413) a stream that would take more than this, and what no limit can be known for (400).

    Parameters
    ----------
    body
        The stream.
    most_bytes
        Bytes of all buffers and names, decompressed.
    most_rows, most_columns
        Rows of all batches, and columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sink = pa.BufferOutputStream()
    >>> with pa.ipc.new_stream(sink, pa.schema({"a": pa.float32()})) as writer:
    ...     writer.write_table(pa.table({"a": pa.array([1.0, 2.0], pa.float32())}))
    >>> check_stream(sink.getvalue().to_pybytes(), most_bytes=100, most_rows=1, most_columns=1)
    Traceback (most recent call last):
        ...
    plackett.serve.http.RefusedError: 2 documents; at most 1 are accepted
    """
    n_bytes = n_rows = 0
    try:
        for i, (message, content) in enumerate(_messages(memoryview(body))):
            if i == _MESSAGES:
                raise RefusedError(413, f"the Arrow stream has more than {_MESSAGES} messages; send larger batches")
            kind, header = message.number(1, "B"), message.table(2)
            if header is None:
                continue
            if kind == _SCHEMA:
                fields = header.length(1)
                if fields > most_columns:
                    raise RefusedError(413, f"the table has {fields} columns; at most {most_columns} are accepted")
            for size in _sizes(message, kind, header, content):
                n_bytes += size
                if n_bytes > most_bytes:
                    raise RefusedError(413, f"the Arrow stream, decoded, has more than {most_bytes} bytes")
            if kind == _ROWS:
                n_rows += max(0, header.number(0, "q"))
                if n_rows > most_rows:
                    raise RefusedError(413, f"{n_rows} documents; at most {most_rows} are accepted")
    except (struct.error, IndexError, ValueError) as error:
        raise RefusedError(400, f"the body is not an Arrow stream: {str(error)[:200]}") from None


class _Table:
    """A table of a FlatBuffer."""

    __slots__ = ("_at", "_data", "_fields")

    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at
        fields = at - self.read("i", at)
        n = min(self.read("H", fields) // 2, _MOST_FIELDS)
        self._fields = struct.unpack_from(f"<{n}H", data, fields)  # its own size, that of the table, then the fields

    def read(self, form: str, at: int) -> int:
        if at < 0:
            raise IndexError("a position before the beginning")
        number: int = _FORMS[form].unpack_from(self._data, at)[0]
        return number

    def place(self, field: int) -> int:
        """Where a field is; 0 if it is absent."""
        offset = self._fields[field + 2] if field + 2 < len(self._fields) else 0
        return self._at + offset if offset else 0

    def number(self, field: int, form: str) -> int:
        at = self.place(field)
        return self.read(form, at) if at else 0

    def table(self, field: int) -> _Table | None:
        at = self.place(field)
        return _Table(self._data, at + self.read("I", at)) if at else None

    def length(self, field: int) -> int:
        """Number of entries of a vector, or of bytes of a text."""
        at = self.place(field)
        return self.read("I", at + self.read("I", at)) if at else 0

    def text(self, field: int) -> bytes:
        at = self.place(field)
        start = at + self.read("I", at) + 4 if at else 0
        return bytes(self._data[start : start + self.length(field)])

    def tables(self, field: int) -> Iterator[_Table]:
        """The entries of a vector of tables."""
        at = self.place(field)
        start = at + self.read("I", at) + 4 if at else 0
        for place in range(start, start + 4 * self.length(field), 4):
            yield _Table(self._data, place + self.read("I", place))

    def pairs(self, field: int) -> np.ndarray:
        """The entries of a vector of pairs of 64-bit integers."""
        at = self.place(field)
        if not at:
            return np.empty((0, 2), np.int64)
        return np.frombuffer(self._data, "<i8", 2 * self.length(field), at + self.read("I", at) + 4).reshape(-1, 2)


def _messages(body: memoryview) -> Iterator[tuple[_Table, memoryview]]:
    """The metadata of each message, and the bytes of its buffers."""
    at = 0
    while at + 4 <= len(body):
        (size,) = struct.unpack_from("<i", body, at)
        at += 4
        if size == -1:  # older streams have the size at once
            (size,) = struct.unpack_from("<i", body, at)
            at += 4
        if size == 0:
            return
        if not 0 < size <= len(body) - at:
            raise ValueError("it ends within a message")
        metadata = body[at : at + size]
        message = _Table(metadata, struct.unpack_from("<I", metadata)[0])
        at += size
        length = message.number(3, "q")
        if not 0 <= length <= len(body) - at:
            raise ValueError("it ends within a message")
        yield message, body[at : at + length]
        at += length


def _sizes(message: _Table, kind: int, header: _Table, content: memoryview) -> Iterator[int]:
    """Bytes that the parts of a message take."""
    yield from _texts(message, 4)
    if kind == _SCHEMA:
        yield from _texts(header, 2)
        for field in header.tables(1):
            if field.length(5):
                name = repr(field.text(0)[:60].decode("utf-8", "replace"))
                raise RefusedError(400, f"the column {name} holds lists, structures or unions; they are not accepted")
            yield _ENTRY + field.length(0)
            yield from _texts(field, 6)
            more = field.table(3)
            if field.number(2, "B") == _TIMESTAMP and more is not None:
                yield more.length(1)  # the time zone
        return
    if kind == _DICTIONARIES:
        if header.number(2, "B"):
            raise RefusedError(400, "the Arrow stream has a dictionary in parts (delta); send whole dictionaries")
        data = header.table(1)
    else:
        data = header
    if data is None:
        return
    if message.number(0, "H") < _VERSION and message.length(4):
        raise RefusedError(400, "the Arrow stream is of a version before 1.0 with metadata")
    yield int(_decompressed(data.pairs(2), content, compressed=data.table(3) is not None).sum())


def _texts(table: _Table, field: int) -> Iterator[int]:
    """Bytes of keys and values."""
    for entry in table.tables(field):
        yield _ENTRY + entry.length(0) + entry.length(1)


def _decompressed(buffers: np.ndarray, content: memoryview, *, compressed: bool) -> Any:
    """Bytes of each buffer, given where it begins and how long it is. A compressed one begins with its length."""
    begins, lengths = buffers.T
    if not len(buffers):
        return lengths
    if (begins < 0).any() or (lengths < 0).any() or (begins > len(content)).any() or (lengths > len(content)).any():
        raise ValueError("a buffer lies outside of its message")
    if not compressed:
        return lengths
    marked = lengths >= 8
    places = begins[marked]
    if (places > len(content) - 8).any():
        raise ValueError("a buffer lies outside of its message")
    raw = np.frombuffer(content, np.uint8)[places[:, None] + np.arange(8)]
    declared = raw.view("<i8")[:, 0]
    sizes = lengths.copy()
    sizes[marked] = np.where(declared < 0, lengths[marked], np.minimum(declared, 1 << 40))
    return sizes
