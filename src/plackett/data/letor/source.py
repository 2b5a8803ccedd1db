"""The bytes of a text file as segments of whole lines: mapped where possible, else piece by piece."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence

import numpy as np

from plackett.data._compression import codec_of, pieces
from plackett.data.letor.errors import Segment
from plackett.data.letor.words import PADDING

__all__ = ["LineBlocks", "is_regular", "mapped"]

_BOM = b"\xef\xbb\xbf"


def is_regular(path: str) -> bool:
    """Whether the path is a file that can be read twice, not a pipe; a folder is an error."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder; give the path of a file in it")
    return stat.S_ISREG(mode)


def mapped(path: str) -> list[Segment] | None:
    """Segments of a plain file that is mapped into memory; None where it is compressed, empty or not a regular file.

    The kernels read a little beyond the end of a text, so the last line is a copy with room behind it.
    """
    if not is_regular(path):
        return None
    with open(path, "rb") as file:
        head = file.read(16)
        if not head or codec_of(path, head) is not None:
            return None
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    text = np.frombuffer(content, np.uint8)
    lo = len(_BOM) if head.startswith(_BOM) else 0
    cut = max(lo, content.rfind(b"\n", 0, max(len(text) - PADDING, 0)) + 1)
    return [Segment(text, lo, cut), _padded([text[cut:].data])]


def _padded(parts: Sequence[bytes | memoryview]) -> Segment:
    """Segment of the joined parts, with a newline at the end where there is none."""
    last = next((part[-1] for part in reversed(parts) if len(part)), 10)
    text = np.frombuffer(b"".join([*parts, b"" if last == 10 else b"\n", bytes(PADDING)]), np.uint8)
    return Segment(text, 0, len(text) - PADDING)


class LineBlocks:
    """A file, decompressed, in segments of at least ``size`` bytes that end with a line; the last may be smaller."""

    def __init__(self, path: str, size: int) -> None:
        self.size = size
        self.ended = False
        self._pieces = pieces(path)
        self._rest = b""
        self._first = True

    def read(self, before: bytes = b"") -> Segment:
        """The next segment, with some bytes put before it; empty at the end."""
        parts = [before, self._rest]
        total = len(before) + len(self._rest)
        self._rest = b""
        self.ended = True
        for piece in self._pieces:
            parts.append(piece)
            total += len(piece)
            cut = piece.rfind(b"\n") + 1 if total >= self.size else 0
            if cut:
                parts[-1], self._rest = piece[:cut], piece[cut:]
                self.ended = False
                break
        segment = _padded(parts)
        if self._first and segment.text[:3].tobytes() == _BOM:
            segment = Segment(segment.text, len(_BOM), segment.hi)
        self._first = False
        return segment
