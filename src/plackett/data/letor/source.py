"""The bytes of a text file as segments of whole lines: mapped where possible, else piece by piece."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence

import numpy as np

from plackett._files.checks import check_regular, open_regular
from plackett._files.compression import codec_of, pieces
from plackett.data.letor.errors import LineRange
from plackett.data.letor.words import PADDING

_BOM = b"\xef\xbb\xbf"


def is_regular(path: str) -> bool:
    """Whether the path is a file that can be read twice, not a pipe; a folder is an error."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder; give the path of a file in it")
    check_regular(path, pipes=True)
    return stat.S_ISREG(mode)


def mapped(path: str) -> list[LineRange] | None:
    """Segments of a plain file that is mapped into memory; None where it is compressed, empty or not a regular file.

    The kernels read a little beyond the end of a text, so the last line is a copy with room after it.
    """
    if not is_regular(path):
        return None
    with open_regular(path) as file:
        head = file.read(16)
        if not head or codec_of(path, head) is not None:
            return None
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    text = np.frombuffer(content, np.uint8)
    lo = len(_BOM) if head.startswith(_BOM) else 0
    cut = max(lo, content.rfind(b"\n", 0, max(len(text) - PADDING, 0)) + 1)
    return [LineRange(text, lo, cut), _padded([text[cut:].data])]


def _padded(parts: Sequence[bytes | memoryview]) -> LineRange:
    """Segment of the joined parts, with a newline at the end where there is none."""
    last = next((part[-1] for part in reversed(parts) if len(part)), 10)
    text = np.frombuffer(b"".join([*parts, b"" if last == 10 else b"\n", bytes(PADDING)]), np.uint8)
    return LineRange(text, 0, len(text) - PADDING)


class LineBlocks:
    """A file, decompressed, in segments of ``size`` bytes and the rest of a line; the last may be smaller.

    Where they end depends on the text alone, not on how it was compressed.
    """

    def __init__(self, path: str, size: int) -> None:
        self.size = size
        self.ended = False
        self._pieces = pieces(path)
        self._piece = b""
        self._at = 0
        self._first = True

    def read(self, before: bytes = b"") -> LineRange:
        """The next segment, with some bytes put before it; empty at the end."""
        parts: list[bytes | memoryview] = [before]
        total = len(before)
        self.ended = False
        while not self.ended:
            at = self._at
            cut = self._piece.find(b"\n", at + max(self.size - total - 1, 0)) + 1
            self._at = cut or len(self._piece)
            parts.append(memoryview(self._piece)[at : self._at])
            total += self._at - at
            if cut:
                break
            self._piece, self._at = next(self._pieces, b""), 0
            self.ended = not self._piece
        segment = _padded(parts)
        if self._first and segment.text[:3].tobytes() == _BOM:
            segment = LineRange(segment.text, len(_BOM), segment.hi)
        self._first = False
        return segment
