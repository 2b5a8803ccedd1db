"""Columns of byte strings and offsets: creating and concatenating them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plackett.data.strings import Strings


def offsets_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Offsets of parts of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def join_lists(lists: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of numbers put one after the other, and their offsets."""
    return offsets_of([numbers.size for numbers in lists]), np.concatenate([np.empty(0, np.int64), *lists])


def strings(values: Sequence[bytes]) -> Strings:
    """A column of byte strings."""
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    return Strings(np.frombuffer(b"".join(values), np.uint8), offsets_of(lengths))


def utf8(text: str) -> bytes:
    """A text as bytes; half a surrogate pair, which is not a character, becomes U+FFFD as in other readers.

    >>> utf8("a" + chr(0xD800)) == ("a" + chr(0xFFFD)).encode()
    True
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def join(columns: Sequence[Strings]) -> Strings:
    """Columns of strings one below the other."""
    blocks = [column.data[column.offsets[0] : column.offsets[-1]] for column in columns]
    return Strings(np.concatenate([*blocks, np.empty(0, np.uint8)]), join_offsets([c.offsets for c in columns]))


def join_offsets(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Offsets of parts that are put one after the other."""
    return offsets_of(np.concatenate([*(np.diff(part) for part in parts), np.empty(0, np.int64)]))
