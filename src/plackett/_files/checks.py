"""What is checked of files before they are used: that they are files, and that offsets fit."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from typing import Any

from plackett._base.errors import DataError


def check_regular(path: str | os.PathLike[str], *, pipes: bool = False) -> None:
    """Raise an error if the path is not a regular file: opening a pipe waits for ever without a writer.

    A device may have no end, and a pipe can be read only once, while most readers look at the first bytes before they
    read. A missing file is left to whoever opens it.

    Parameters
    ----------
    pipes
        Whether pipes are accepted: for text that is read once, which another program may be writing.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    _check(path, mode, pipes)


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file to read its bytes; anything else is an error, and nothing is waited for.

    What was opened is checked, too: another process may put a pipe in place of the file after its name was looked at.
    """
    check_regular(path)
    return open(path, "rb", opener=_opened_at_once)


def _opened_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe; Windows has neither the flag nor such pipes."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _check(path, os.fstat(file).st_mode)
    except DataError:
        os.close(file)
        raise
    return file


def _check(path: str | os.PathLike[str], mode: int, pipes: bool = False) -> None:
    if stat.S_ISDIR(mode):
        raise DataError(f"{path} is a folder, not a file")
    if stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)):
        return
    if pipes:
        raise DataError(f"{path} is a socket or device; give a file or a pipe")
    raise DataError(f"{path} is a pipe, socket or device, not a file; write its content to a file first")


def offsets_fit(offsets: Any, size: int, n: int | None = None) -> bool:
    """Whether offsets cut ``size`` items into parts, ``n`` of them if given: they begin at 0, never fall and end there.

    Kernels trust offsets, and a file may hold any. Neighbours are compared, as differences would wrap around.

    >>> import numpy as np
    >>> offsets_fit(np.array([0, 2, 2, 3]), 3), offsets_fit(np.array([0, 2**63 - 1, -2, 3]), 3)
    (True, False)
    """
    if offsets.ndim != 1 or offsets.size == 0 or offsets.dtype.kind not in "iu":
        return False
    ends = offsets[0] == 0 and offsets[-1] == size and (n is None or offsets.size == n + 1)
    return bool(ends and (offsets[1:] >= offsets[:-1]).all())
