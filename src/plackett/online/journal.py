"""The state of a learner on disk: an append-only journal of events, and snapshots."""

from __future__ import annotations

import json
import os
import time as clock
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol, Self

from plackett._atomic import replacing
from plackett._errors import DataError
from plackett._lock import lock
from plackett._provenance import fulfils

__all__ = ["Journal", "Learner", "restore"]

_EVENTS, _LOCK = "events.jsonl", "lock"


class Learner(Protocol):
    """What a journal keeps: anything that learns from events of plain values and can give and take its state."""

    def apply(self, event: Any) -> None:
        """Learn from an event."""

    def state(self) -> dict[str, Any]:
        """All that changes, as plain values."""

    def set_state(self, state: dict[str, Any]) -> Any:
        """Take over a state."""


class Journal:
    """Keeps a learner's state in a folder, so that no acknowledged event is lost or counted twice.

    `record` writes an event to the journal, waits for the disk, and only then lets the learner learn. When the journal
    is opened, the learner takes over the latest snapshot and learns from the events after it. A line that a crash cut
    short was never acknowledged and is removed. One process may write at a time; others are refused.

    Parameters
    ----------
    folder
        Made if it does not exist.
    learner
        A new learner with the settings of the old one; its state is replaced.
    snapshot_every
        Events between snapshots. Snapshots only make opening and `restore` faster.
    max_age
        Events that are older than this many seconds, by their ``time``, are ignored; None takes all.

    Examples
    --------
    >>> import tempfile
    >>> from plackett.online import PDGD
    >>> folder = tempfile.mkdtemp()
    >>> with Journal(folder, PDGD(2)) as journal:
    ...     X = [[1.0, 0.0], [0.0, 1.0]]
    ...     page = journal.learner.show(X)
    ...     event = journal.learner.event(X, page, [False, True])
    ...     journal.record("page 1", event), journal.record("page 1", event)
    (True, False)
    >>> with Journal(folder, PDGD(2)) as journal:
    ...     len(journal)
    1
    """

    _ids = ("online.stability",)

    def __init__(
        self,
        folder: str | os.PathLike[str],
        learner: Learner,
        *,
        snapshot_every: int = 10_000,
        max_age: float | None = None,
    ) -> None:
        if snapshot_every < 1:
            raise DataError(f"snapshot_every={snapshot_every}; give at least 1")
        self.folder, self.learner = Path(folder), learner
        self.snapshot_every, self.max_age = snapshot_every, max_age
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock: IO[bytes] = (self.folder / _LOCK).open("ab")
        self._file: IO[bytes] | None = None
        try:
            if not lock(self._lock):
                raise DataError(f"{self.folder}: another process writes this journal; close it first")
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        path = self.folder / _EVENTS
        path.touch()
        self._ids_seen: set[Any] = set()
        self._count = 0
        start = _load_snapshot(self.folder, self.learner, None)
        good = 0
        for number, entry, end in _entries(path):
            good = end
            self._ids_seen.add(entry["id"])
            self._count += 1
            if number > start:
                self.learner.apply(entry["event"])
        if start > self._count:
            raise DataError(f"{path}: {self._count} events, but a snapshot was made after {start}: events were lost")
        self._file = path.open("r+b")
        self._file.truncate(good)  # what a crash cut short
        self._file.seek(good)

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, id: Any, event: Any, *, time: float | None = None) -> bool:
        """Store an event and learn from it; false if its id is known or it is too old. Returns when it is safe."""
        return self.record_all([(id, event, time)])[0]

    def record_all(self, events: Iterable[tuple[Any, Any, float | None]]) -> list[bool]:
        """Store several events ``(id, event, time)`` with one wait for the disk."""
        if self._file is None:
            raise DataError(f"{self.folder}: the journal is closed")
        now = clock.time()
        new: list[Any] = []
        taken: list[bool] = []
        lines: list[bytes] = []
        fresh: set[Any] = set()
        for id, event, time in events:
            known = id in self._ids_seen or id in fresh
            late = self.max_age is not None and time is not None and time < now - self.max_age
            taken.append(not known and not late)
            if taken[-1]:
                fresh.add(id)
                lines.append(_line({"id": id, "time": now if time is None else time, "stored": now, "event": event}))
                new.append(json.loads(lines[-1][9:])["event"])  # what a restart would read
        position = self._file.tell()
        try:
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except BaseException:
            self._file.close()  # what is on disk is unknown: the next opening finds out
            self._file = None
            os.truncate(self.folder / _EVENTS, position)
            raise
        before = self._count
        self._ids_seen |= fresh
        self._count += len(new)
        for event in new:
            self.learner.apply(event)
        if before // self.snapshot_every != self._count // self.snapshot_every:
            self.snapshot()
        return taken

    def snapshot(self) -> Path:
        """Store the learner's state now."""
        path = self.folder / f"snapshot-{self._count:012d}.json"
        body = json.dumps({"events": self._count, "stored": clock.time(), "state": self.learner.state()}).encode()
        with replacing(path) as file:
            file.write(b"%08x " % zlib.crc32(body) + body)
        return path

    def close(self) -> None:
        """Let others write."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.close()


@fulfils("online.stability")
def restore(folder: str | os.PathLike[str], learner: Learner, *, before: float) -> int:
    """Give a learner the state that it had at a time (seconds since 1970); returns the number of events behind it.

    The folder is only read: yesterday's model can be looked at, or served, while today's goes on learning.
    """
    folder = Path(folder)
    start, count = _load_snapshot(folder, learner, before), 0
    for number, entry, _ in _entries(folder / _EVENTS):
        if entry["stored"] > before:
            break
        count = number
        if number > start:
            learner.apply(entry["event"])
    return count


def _load_snapshot(folder: Path, learner: Learner, before: float | None) -> int:
    """Give the learner the latest good snapshot made before a time; the number of events behind it."""
    for path in sorted(folder.glob("snapshot-*.json"), reverse=True):
        body = _checked(path.read_bytes())
        if body is None:  # damaged: an older one and more of the journal do as well
            continue
        if before is None or body["stored"] <= before:
            learner.set_state(body["state"])
            return int(body["events"])
    return 0


def _line(entry: dict[str, Any]) -> bytes:
    try:
        body = json.dumps(entry, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise DataError(f"event {entry['id']!r} is not made of plain values: {error}") from None
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def _checked(line: bytes) -> Any:
    """The JSON behind a checksum; None if it is damaged."""
    try:
        return json.loads(line[9:]) if int(line[:8], 16) == zlib.crc32(line[9:]) else None
    except ValueError:
        return None


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Number, entry and end of each line of a journal. A damaged last line ends it, one before that is an error."""
    end = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            entry = _checked(line.removesuffix(b"\n")) if line.endswith(b"\n") else None
            if entry is None:
                if file.read(1):
                    raise DataError(f"{path}, line {number}: damaged, and events follow; restore the file from a copy")
                return
            end += len(line)
            yield number, entry, end
