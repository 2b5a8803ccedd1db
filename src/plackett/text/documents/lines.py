"""Lines of text files, plain or compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plackett._base.errors import DataError
from plackett._files.compression import pieces
from plackett.text.documents.encoding import decoded

#: A line longer than this is refused: a reader must not fill the memory with one.
_LONGEST = 1 << 28


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without its end. A line that is not UTF-8 is read as Windows-1252."""
    number, rest = 0, b""
    for piece in pieces(str(path)):
        *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else (rest + piece,)
        for line in whole:
            number += 1
            yield number, decoded(line).rstrip("\r")
        if len(rest) > _LONGEST:
            raise DataError(f"{path}:{number + 1}: a line of more than {_LONGEST} bytes")
    if rest:
        yield number + 1, decoded(rest).rstrip("\r")
