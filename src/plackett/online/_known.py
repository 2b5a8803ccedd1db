"""Ids of the events that a journal holds: 8 bytes each, on disk except for the latest."""

from __future__ import annotations

import contextlib
import json
import mmap
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._files.checks import open_regular

#: Ids in memory before they are stored, and ids in a file above which it is left as it is.
_MOST_RECENT, _MOST_MERGED = 1 << 17, 1 << 22


def id_number(id: Any) -> int:
    """64 bits of a hash of a text or a whole number; ``1`` and ``"1"`` differ."""
    if not isinstance(id, str) and (not isinstance(id, int) or isinstance(id, bool)):
        raise DataError(f"id {id!r} is neither text nor a whole number")
    try:
        return int.from_bytes(blake2b(json.dumps(id).encode(), digest_size=8).digest(), "little")
    except ValueError as error:  # more digits than Python writes
        raise DataError(f"the id is not usable: {error}") from None


class KnownIds:
    """A set of 64-bit numbers in sorted files, with the latest ones in memory.

    Files are merged as they grow, up to 32 MB; a look-up is a binary search in each. They only make opening a journal
    faster, and can be rebuilt from it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recent: set[int] = set()
        self._parts: list[tuple[dict[str, int], np.ndarray]] = []
        self._next = 1 + max((int(path.stem[4:]) for path in self._files()), default=0)

    def _files(self) -> list[Path]:
        return [path for path in self.folder.glob("ids-*.u64") if path.stem[4:].isdigit()]

    def __contains__(self, number: int) -> bool:
        if number in self.recent:
            return True
        key = np.uint64(number)
        for _, values in self._parts:
            at = int(values.searchsorted(key))
            if at < values.size and values[at] == key:
                return True
        return False

    def add(self, number: int) -> None:
        """Remember a number."""
        self.recent.add(number)
        if len(self.recent) >= _MOST_RECENT:
            self.store()

    def store(self) -> list[dict[str, int]]:
        """Write the recent numbers to disk; the description of all files, for `load`."""
        if self.recent:
            values = np.fromiter(self.recent, np.uint64, len(self.recent))
            merged = len(self._parts)
            while merged and self._parts[merged - 1][1].size <= min(2 * values.size, _MOST_MERGED):
                merged -= 1
                values = np.concatenate([self._parts[merged][1], values])
            part = self._write(np.sort(values))
            self._parts = [*self._parts[:merged], part]
            self.recent = set()
        return [described for described, _ in self._parts]

    def _write(self, values: np.ndarray) -> tuple[dict[str, int], np.ndarray]:
        described = {"file": self._next, "n": values.size, "crc": zlib.crc32(values.tobytes())}
        with replacing(self._path(self._next)) as file:
            file.write(values.astype("<u8").tobytes())
        self._next += 1
        return described, self._mapped(described)

    def _path(self, number: int) -> Path:
        return self.folder / f"ids-{number:09d}.u64"

    def _mapped(self, described: dict[str, int]) -> np.ndarray:
        with open_regular(self._path(described["file"])) as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), "<u8")

    def load(self, described: list[dict[str, int]]) -> bool:
        """Open the files of a snapshot; false, and nothing is known, if one is missing or damaged."""
        try:
            parts = [(each, self._mapped(each)) for each in described]
        except (OSError, ValueError):
            return False
        if any(values.size != each["n"] or zlib.crc32(values.data) != each["crc"] for each, values in parts):
            return False
        self._parts = parts
        return True

    def tidy(self) -> None:
        """Remove the files that a merge left behind."""
        used = {described["file"] for described, _ in self._parts}
        for path in self._files():
            if int(path.stem[4:]) not in used:
                with contextlib.suppress(OSError):  # in use, on systems where that matters; the next one removes it
                    path.unlink()
