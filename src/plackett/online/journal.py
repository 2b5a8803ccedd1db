"""The state of a learner on disk: an append-only journal of events, and snapshots."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
import time as clock
import warnings
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol, Self

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError, PlackettWarning
from plackett._files.atomic import replacing, sync_folder
from plackett._files.checks import open_regular
from plackett._files.lock import lock
from plackett.online._known import KnownIds, id_number

__all__ = ["Journal", "restore"]

_EVENTS, _LOCK = "events.jsonl", "lock"
#: Journals that this process has open.
_OPEN: weakref.WeakSet[Journal] = weakref.WeakSet()


class Learner(Protocol):
    """What a journal keeps: anything that learns from events of plain values and can give and take its state."""

    def check(self, event: Any) -> None:
        """Raise `DataError` if the learner cannot learn from the event; nothing changes."""

    def apply(self, event: Any) -> None:
        """Learn from an event."""

    def state(self) -> dict[str, Any]:
        """Everything that learning changes, as plain values."""

    def set_state(self, state: dict[str, Any]) -> Any:
        """Take over a state."""


class Journal:
    """Keeps a learner's state in a folder, so that no acknowledged event is lost or counted twice.

    `record` writes an event to the journal, waits for the disk, and only then lets the learner learn. When the journal
    is opened, the learner takes over the latest snapshot and learns from the events after it. A line that a crash cut
    short was never acknowledged and is removed. One process may write at a time, others are refused; the threads of
    that process take turns.

    Ids are never forgotten. Those since the latest snapshot are in memory, the others in files of 8 bytes per id (a
    64-bit hash; a new event is taken for a known one with probability n / 2⁶⁴ after n events). Events themselves
    are never removed: start a new folder, with `state` of the old learner, when the old one becomes too large.

    Parameters
    ----------
    folder
        Created if it does not exist.
    learner
        A new learner with the settings of the old one; its state is replaced. Other settings are refused. To use them,
        give the state of the old learner to a new one (``new.set_state(old.state())``) and a folder of its own.
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

    def __init__(
        self,
        folder: str | os.PathLike[str],
        learner: Learner,
        *,
        snapshot_every: int = 10_000,
        max_age: float | None = None,
    ) -> None:
        whole("snapshot_every", snapshot_every, least=1)
        self.folder, self.learner = Path(folder), learner
        self.snapshot_every, self.max_age = snapshot_every, max_age
        self.folder.mkdir(parents=True, exist_ok=True)
        self._turn = threading.RLock()
        self._lock: IO[bytes] = (self.folder / _LOCK).open("ab")
        self._file: IO[bytes] | None = None
        try:
            if not lock(self._lock):
                raise DataError(f"{self.folder}: another process writes this journal; close it first")
            self._open()
        except BaseException:
            self.close()
            raise
        _OPEN.add(self)

    def _open(self) -> None:
        path = self.folder / _EVENTS
        if not path.exists():
            path.touch()
            sync_folder(self.folder)
        self._known = KnownIds(self.folder)
        latest = _latest(self.folder, None)
        self._count: int = latest["events"] if latest else 0
        self._end: int = latest["end"] if latest else 0
        _check_end(path, self._count, self._end)
        if latest:
            _check_settings(self.folder, latest, self.learner)
            self.learner.set_state(latest["state"])
            if not self._known.load(latest["ids"]):
                for _, entry, end in _entries(path):
                    if end > self._end:
                        break
                    self._known.add(id_number(entry["id"]))
        for number, entry, end in _entries(path, self._count, self._end):
            known = id_number(entry["id"])
            if known not in self._known:  # a line that somebody copied counts once
                self._known.add(known)
                _apply(self.learner, entry, path, number)
            self._count, self._end = number, end
        self._known.tidy()
        self._file = path.open("r+b", buffering=0)
        self._file.truncate(self._end)  # the line that a crash cut short
        self._file.seek(self._end)
        if not latest and not self._count:
            self.snapshot()  # the initial weights are part of the state

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, id: str | int, event: Any, *, time: float | None = None) -> bool:
        """Store an event and learn from it; false if its id is known or it is too old. Returns when it is safe."""
        return self.record_all([(id, event, time)])[0]

    def record_all(self, events: Iterable[tuple[str | int, Any, float | None]]) -> list[bool]:
        """Store several events ``(id, event, time)`` with one wait for the disk; all of them, or none if one is bad.

        Ids are texts or whole numbers, events are plain values (what `json` can write).
        """
        with self._turn:
            return self._record_all(events)

    def _check_open(self) -> None:
        if self._file is None:
            raise DataError(
                f"{self.folder}: the journal is closed (forks and interruptions of record close it too); open it again"
            )

    def _record_all(self, events: Iterable[tuple[str | int, Any, float | None]]) -> list[bool]:
        self._check_open()
        now = clock.time()
        new: list[dict[str, Any]] = []
        taken: list[bool] = []
        lines: list[bytes] = []
        fresh: set[int] = set()
        for id, event, time in events:
            number = id_number(id)
            if time is not None and not (isinstance(time, int | float) and math.isfinite(time)):
                raise DataError(f"event {id!r}: time={time!r}; give seconds since 1970")
            late = self.max_age is not None and time is not None and time < now - self.max_age
            taken.append(not late and number not in fresh and number not in self._known)
            if taken[-1]:
                fresh.add(number)
                lines.append(_line({"id": id, "time": now if time is None else time, "stored": now, "event": event}))
                new.append(json.loads(lines[-1][9:]))  # what a restart would read
                self.learner.check(new[-1]["event"])
        if new:
            self._append(b"".join(lines))
        before = self._count
        try:
            for number in fresh:
                self._known.add(number)
            for entry in new:
                self._count += 1
                _apply(self.learner, entry, self.folder / _EVENTS, self._count)
        except BaseException:  # interrupted: the learner is behind the journal until it is opened again
            if self._file is not None:
                self._file.close()
                self._file = None
            raise
        if before // self.snapshot_every != self._count // self.snapshot_every:
            try:
                self.snapshot()
            except OSError as error:
                warnings.warn(
                    f"{self.folder}: no snapshot ({error}); the events are stored, but opening takes longer",
                    PlackettWarning,
                    stacklevel=4,
                )
        return taken

    def _append(self, lines: bytes) -> None:
        assert self._file is not None
        try:
            left = memoryview(lines)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except BaseException:  # what is on disk is unknown: the next opening finds out
            self._file.close()
            self._file = None
            os.truncate(self.folder / _EVENTS, self._end)
            raise
        self._end += len(lines)

    def snapshot(self) -> Path:
        """Store the learner's state now."""
        with self._turn:
            self._check_open()
            path = self.folder / f"snapshot-{self._count:012d}.json"
            record = {
                "events": self._count,
                "end": self._end,
                "stored": clock.time(),
                "ids": self._known.store(),
                "settings": _settings(self.learner),
                "state": self.learner.state(),
            }
            body = json.dumps(record).encode()
            with replacing(path) as file:
                file.write(b"%08x " % zlib.crc32(body) + body)
            self._known.tidy()
            return path

    def close(self) -> None:
        """Let others write."""
        with self._turn:
            if self._file is not None:
                self._file.close()
                self._file = None
            self._lock.close()


def _close_in_fork() -> None:
    """Leave the journals to the process that opened them: two writers would overwrite each other's events."""
    for journal in list(_OPEN):
        journal._turn = threading.RLock()  # a thread that is not here may hold the old one
        journal.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)


def restore(folder: str | os.PathLike[str], learner: Learner, *, before: float) -> int:
    """Give a learner the state that it had at a time (seconds since 1970); returns the number of events up to then.

    The folder is only read: yesterday's model can be looked at, or served, while today's continues to learn.
    """
    folder = Path(folder)
    path, latest = folder / _EVENTS, _latest(folder, before)
    count, end = (latest["events"], latest["end"]) if latest else (0, 0)
    _check_end(path, count, end)
    known, seen = KnownIds(folder), set()
    if latest:
        _check_settings(folder, latest, learner)
        learner.set_state(latest["state"])
        known.load(latest["ids"])  # those of an old snapshot may be gone; reading the whole journal would take too long
    for number, entry, _ in _entries(path, count, end):
        if entry["stored"] > before:
            break
        id = id_number(entry["id"])
        if id not in seen and id not in known:  # a line that somebody copied counts once
            seen.add(id)
            _apply(learner, entry, path, number)
        count = number
    return int(count)


def _apply(learner: Learner, entry: dict[str, Any], path: Path, number: int) -> None:
    try:
        learner.apply(entry["event"])
    except Exception as error:
        error.add_note(f"{path}, line {number}: event {entry['id']!r} was recorded, but the learner fails on it")
        raise


def _latest(folder: Path, before: float | None) -> dict[str, Any] | None:
    """The latest good snapshot made before a time."""
    for path in sorted(folder.glob("snapshot-*.json"), reverse=True):
        body = _checked(path.read_bytes())
        # a damaged one is not needed: an older one and more of the journal give the same state
        if isinstance(body, dict) and "end" in body and (before is None or body["stored"] <= before):
            return body
    return None


def _settings(learner: Learner) -> dict[str, Any]:
    """The kind of a learner and its parameters, as far as they are plain values; empty unless it is a dataclass."""
    if not dataclasses.is_dataclass(learner):
        return {}
    settings: dict[str, Any] = {"learner": type(learner).__name__}
    for field in dataclasses.fields(learner):
        if field.init:
            value = getattr(learner, field.name)
            value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            try:
                settings[field.name] = json.loads(json.dumps(value))
            except (TypeError, ValueError):
                continue  # not a plain value
    return settings


def _check_settings(folder: Path, snapshot: dict[str, Any], learner: Learner) -> None:
    """Reject a learner whose settings differ from the stored ones; old snapshots have no settings."""
    stored, given = snapshot.get("settings", {}), _settings(learner)
    other = [name for name in given if name in stored and stored[name] != given[name]]
    if other:
        before, now = (", ".join(f"{name}={each[name]!r}" for name in other) for each in (stored, given))
        raise DataError(
            f"{folder}: the learner was stored with {before}, and this one has {now}; give the stored settings, or "
            "begin a new folder, with set_state(old.state()) on the new learner"
        )


def _check_end(path: Path, count: int, end: int) -> None:
    """Whether the journal reaches as far as a snapshot says."""
    with open_regular(path) as file:
        file.seek(max(end - 1, 0))
        if end and file.read(1) != b"\n":
            raise DataError(f"{path}: a snapshot was made after {count} events, but some of them are missing")


def _line(entry: dict[str, Any]) -> bytes:
    try:
        body = json.dumps(entry, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"event {entry['id']!r} is not made of plain values: {error}") from None
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def _checked(line: bytes) -> Any:
    """The JSON behind a checksum; None if it is damaged."""
    try:
        return json.loads(line[9:]) if int(line[:8], 16) == zlib.crc32(line[9:]) else None
    except (ValueError, RecursionError):
        return None


def _entries(path: Path, count: int = 0, end: int = 0) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Number, entry and end of the lines after ``count``. A damaged last line ends them, one before is an error."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size  # beyond it, another process may be writing
        file.seek(end)
        for number, line in enumerate(file, count + 1):
            entry = _checked(line.removesuffix(b"\n")) if line.endswith(b"\n") else None
            if entry is None:
                if end + len(line) < size:
                    raise DataError(f"{path}, line {number}: damaged, and events follow; restore the file from a copy")
                return
            end += len(line)
            yield number, entry, end
