"""A column of strings as one block of bytes and the offset of each string."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.dtypes import StringDType

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel


class Strings:
    """Immutable column of byte strings: ``data[offsets[i]:offsets[i + 1]]`` is entry ``i``.

    The form of ids and comments when read from a text file and in the native file. Entries need not be valid
    UTF-8; undecodable bytes become U+FFFD in `to_numpy` and are kept as they are in the bytes.

    >>> Strings.from_values(["a", "", "dé"]).to_numpy().tolist()
    ['a', '', 'dé']
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        self.data = np.asarray(data, np.uint8)
        self.offsets = np.asarray(offsets, np.int64)

    @classmethod
    def from_values(cls, values: Iterable[Any] | np.ndarray) -> Strings:
        """Make a column from any sequence of strings (or of objects to convert with `str`, such as integers)."""
        array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
        if array.dtype.kind == "S":
            data = b"".join(array.tolist())
            lengths = np.strings.str_len(array)
        else:
            # `join` rather than fixed-width arrays, in which one long entry makes every other one as long
            array = array.astype(StringDType())
            texts = array.tolist()
            data = "".join(texts).encode()
            lengths = np.strings.str_len(array)
            if len(data) != lengths.sum():  # not ASCII: bytes are more than characters
                lengths = np.fromiter((len(text.encode()) for text in texts), np.int64, len(texts))
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        return cls(np.frombuffer(data, np.uint8), offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, i: int) -> bytes:
        if not -len(self) <= i < len(self):
            raise IndexError(f"entry {i} of a column of {len(self)}")
        i %= len(self)
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        return np.array_equal(self.lengths, other.lengths) and np.array_equal(self._block(), other._block())

    __hash__ = None  # type: ignore[assignment]

    @property
    def lengths(self) -> np.ndarray:
        """Number of bytes of each entry."""
        return np.diff(self.offsets)

    def _spans(self, rows: Any = slice(None)) -> np.ndarray:
        """Begin and end of the bytes of each entry."""
        return np.column_stack([self.offsets[:-1][rows], self.offsets[1:][rows]])

    def _block(self) -> np.ndarray:
        return self.data[self.offsets[0] : self.offsets[-1]]

    def take(self, rows: np.ndarray) -> Strings:
        """Entries ``rows``, in that order."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths[rows], dtype=np.int64)))
        data = np.empty(offsets[-1], np.uint8)
        copy_spans(self.data, self._spans(rows), data, offsets)
        return Strings(data, offsets)

    def to_numpy(self) -> np.ndarray:
        """Array of NumPy's variable-width strings."""
        width = int(self.lengths.max(initial=0))
        if len(self) > 1 and width * len(self) > 16 * self._block().size + 2**24:
            # one long entry would make a fixed-width array of all of them huge; apart they are small
            half = len(self) // 2
            parts = Strings(self.data, self.offsets[: half + 1]), Strings(self.data, self.offsets[half:])
            return np.concatenate([part.to_numpy() for part in parts])
        fixed = np.zeros((len(self), max(width, 1)), np.uint8)
        copy_spans(self.data, self._spans(), fixed.reshape(-1), fixed.shape[1] * np.arange(len(self)))
        entries: Any = fixed.view(f"S{max(width, 1)}")[:, 0]
        if fixed.max(initial=0) < 128:
            return entries.astype(StringDType())
        try:
            return np.strings.decode(entries, "utf-8").astype(StringDType())
        except UnicodeDecodeError:
            return np.strings.decode(entries, "utf-8", "replace").astype(StringDType())


def pack_strings(name: str, strings: Strings) -> dict[str, np.ndarray]:
    """Arrays that store strings in a file."""
    return {f"{name}.bytes": strings.data, f"{name}.offsets": strings.offsets}


def unpack_strings(arrays: Mapping[str, np.ndarray], name: str) -> Strings | None:
    """Strings from the arrays of a file, checked; None if they are not there.

    >>> unpack_strings(pack_strings("ids", Strings.from_values(["a", "b"])), "ids").to_numpy().tolist()
    ['a', 'b']
    """
    if f"{name}.bytes" not in arrays:
        return None
    data, offsets = arrays[f"{name}.bytes"], arrays.get(f"{name}.offsets")
    if offsets is None or data.dtype != np.uint8 or offsets.dtype != np.int64 or data.ndim != 1:
        raise DataError(f"{name} are not texts")
    if not offsets_fit(offsets, data.size):
        raise DataError(f"the offsets of {name} do not begin at 0, increase, and end with the {data.size} bytes")
    return Strings(data, offsets)


def pack_ids(name: str, ids: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays that store ids, whole numbers or strings, in a file."""
    return {name: ids} if ids.dtype.kind == "i" else pack_strings(name, Strings.from_values(ids))


def unpack_ids(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray | None:
    """Ids from the arrays of a file, checked; None if they are not there."""
    if name not in arrays:
        strings = unpack_strings(arrays, name)
        return None if strings is None else strings.to_numpy()
    if arrays[name].dtype != np.int64 or arrays[name].ndim != 1:
        raise DataError(f"{name} are not whole numbers")
    return arrays[name]


def copy_spans(text: np.ndarray, spans: np.ndarray, out: np.ndarray, to: np.ndarray) -> None:
    """Copy the bytes from ``spans[i, 0]`` to ``spans[i, 1]`` of a text to ``out``, each piece from ``to[i]`` on."""
    text = text.view()
    text.flags.writeable = False  # Numba compiles a kernel once more for arrays that can be written to
    _copy(text, spans, out, to)


@kernel
def _copy(text, spans, out, to):
    for i in range(spans.shape[0]):
        start = spans[i, 0]
        for j in range(spans[i, 1] - start):
            out[to[i] + j] = text[start + j]
