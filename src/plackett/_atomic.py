"""Writing files so that a crash leaves the old file or the new one, never half of either."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path``; at the end of the block it takes the place of ``path`` in one step.

    When the block fails, the temporary file is removed and ``path`` is as it was.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"new")
    >>> target.read_bytes()
    b'new'
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file that is replaced
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
    # not `tempfile`: its files are readable by their owner only, this one gets the permissions of any new file
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is not None and Path(error.filename) == temporary:
            error.filename, error.filename2 = str(path), None  # the name that the caller knows
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
