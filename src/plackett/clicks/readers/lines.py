"""The lines of a text file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from plackett._files.compression import pieces


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line; compressed files are opened, bytes that are not UTF-8 become U+FFFD."""
    rest, number = b"", 0
    for piece in pieces(os.fspath(path)):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            yield number, line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield number + 1, rest.decode("utf-8", "replace").rstrip("\r")
