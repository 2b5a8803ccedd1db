"""Locks of files between processes. A lock belongs to the process that took it: in a forked one its file is closed."""

from __future__ import annotations

import errno
import os
import weakref
from typing import IO

#: Files that this process has locked.
_LOCKED: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()


def lock(file: IO[bytes]) -> bool:
    """Lock the file; false if another process holds the lock, true if the file system has no locks."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    _LOCKED.add(file)
    return True


def _close_in_fork() -> None:
    """Leave the locks to the parent: a lock is held until every process that shares the open file has closed it."""
    for file in list(_LOCKED):
        file.close()
    _LOCKED.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)
