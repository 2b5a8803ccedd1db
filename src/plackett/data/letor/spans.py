"""Pieces of a text, given by begin and end, as a column of strings."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.read_only import read_only
from plackett.data.strings import Strings, copy_spans


def cut_out(pieces: list[tuple[np.ndarray, np.ndarray]]) -> Strings:
    """Column of the spans (n, 2) of each text, one text after the other."""
    lengths = np.concatenate([spans[:, 1] - spans[:, 0] for _, spans in pieces])
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    data = np.empty(offsets[-1], np.uint8)
    row = 0
    for text, spans in pieces:
        copy_spans(text, spans, data, offsets[row:])
        row += len(spans)
    return Strings(data, offsets)


def run_starts(ids: np.ndarray | Strings) -> np.ndarray:
    """Rows whose id differs from the one of the row before."""
    if isinstance(ids, Strings):
        return np.flatnonzero(_changes(read_only(ids.data), read_only(ids.offsets)))
    return np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))


@kernel
def _changes(data, offsets):
    n = offsets.size - 1
    out = np.ones(n, np.bool_)
    for i in range(1, n):
        a, b = offsets[i - 1], offsets[i]
        size = offsets[i + 1] - b
        if b - a == size:
            j = 0
            while j < size and data[a + j] == data[b + j]:
                j += 1
            out[i] = j < size
    return out
