"""Writing files so that a crash leaves the old file or the new one, never half of either."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

#: Temporary files of killed processes are removed after this many seconds without a write: for a process of this
#: machine that has ended, and for any other (several machines may share a folder).
_IDLE_GONE = 600
_IDLE_UNKNOWN = 86_400


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file next to ``path``; at the end of the block it replaces ``path`` in one step.

    If the block fails, the temporary file is removed and ``path`` is unchanged. What a killed process left behind
    (``.name.machine-process-number.tmp``) is removed by the next one that writes the same file, after a while. A device
    or a pipe is written into, never replaced.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"new")
    >>> target.read_bytes()
    b'new'
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):  # also the pipe of >(command)
        with naming(path), open(path, "wb") as special:
            yield special
        return
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file that is replaced
    temporary = target.with_name(f"{_prefix(target)}{_machine()}-{os.getpid()}-{secrets.token_hex(6)}.tmp")
    _remove_left_behind(target)
    # not `tempfile`: its files are readable by their owner only, this one gets the permissions of any new file
    try:
        with naming(path), open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is not None and Path(error.filename) == temporary:
            error.filename = str(path)  # the name that the caller knows
            del error.filename2  # None would be shown, too
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in errors of a full or failing disk, which do not say what was being written."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            error.filename = os.fspath(path)
        raise


def _prefix(target: Path) -> str:
    return f".{target.name[:100]}."


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())[:40] or "_"


def being_written(path: Path) -> bool:
    """Whether a temporary file belongs to a process that may still write it."""
    match = re.fullmatch(r"\..*\.([A-Za-z0-9_]+)-([0-9]{1,9})-[0-9a-f]{12}\.tmp", path.name)
    if match is None:
        return False
    if match[1] == _machine():
        return _alive(int(match[2]))
    try:
        return time.time() - path.stat().st_mtime <= _IDLE_UNKNOWN
    except OSError:  # gone already
        return False


def _remove_left_behind(target: Path) -> None:
    form = re.compile(re.escape(_prefix(target)) + r"([A-Za-z0-9_]+)-([0-9]{1,9})-[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError):  # a folder that cannot be listed; another process may remove the same file
        for entry in os.scandir(target.parent):
            match = form.fullmatch(entry.name)
            if match is None or not entry.is_file(follow_symlinks=False):
                continue
            gone = match[1] == _machine() and not _alive(int(match[2]))
            if time.time() - entry.stat().st_mtime > (_IDLE_GONE if gone else _IDLE_UNKNOWN):
                os.unlink(entry.path)


def _alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Wait until the names of new files are on disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
