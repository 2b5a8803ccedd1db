"""Locks of files between processes."""

from __future__ import annotations

import errno
import os
from typing import IO

__all__ = ["lock"]


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
    return True
