"""Files of folders that strangers may send."""

from __future__ import annotations

import os
import stat

from plackett._errors import DataError

__all__ = ["check_regular"]


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise an error if something other than a file is in its place: opening a pipe would wait for ever.

    A missing file is left to whoever opens it.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        raise DataError(f"{path} is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise DataError(f"{path} is a pipe, socket or device, not a file")
