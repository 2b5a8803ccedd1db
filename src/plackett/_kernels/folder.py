"""The folder of compiled kernels, found without importing Numba."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path

#: Compiled code of older sources is deleted after this many days without use.
_KEEP_DAYS = 30


def cache_folder(module: str, stamp: str) -> Path | None:
    """Folder for the code of a module's kernels with this stamp; None where nothing can be written."""
    root = cache_root()
    if root is None:
        return None
    folder = root / f"{module}-{stamp}"
    if not folder.is_dir():
        _announce()
        try:
            _drop_old(root, module)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
    return folder


@cache
def cache_root() -> Path | None:
    """``$PLACKETT_CACHE_DIR`` or else the user's cache folder; None where it cannot be written or there is no home."""
    try:
        root = _user_folder() / "kernels"
        root.mkdir(parents=True, exist_ok=True)
        probe = root / f".write-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: neither HOME nor an entry for this user in the system's list
        return None
    return root


def nothing_compiled() -> bool:
    """Whether the folder is empty, as it is before the first use."""
    root = cache_root()
    return root is not None and next(root.iterdir(), None) is None


def _user_folder() -> Path:
    chosen = os.environ.get("PLACKETT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser()
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "plackett"


#: What to do when the first kernel of this process has to be compiled.
_at_first: list[Callable[[], object]] = []


@contextlib.contextmanager
def on_first_compilation(action: Callable[[], object]) -> Iterator[None]:
    """Call ``action`` if, inside this context, a kernel has to be compiled and none had to be before."""
    _at_first.append(action)
    try:
        yield
    finally:
        _at_first.remove(action)


@lru_cache(maxsize=1)
def _announce() -> None:
    """Tell a person at a terminal, once, why the first call takes seconds."""
    for action in _at_first:
        action()
    if sys.stderr is not None and sys.stderr.isatty():
        print("plackett: compiling for this machine (first use only) …", file=sys.stderr)


def _drop_old(root: Path, module: str) -> None:
    limit = time.time() - _KEEP_DAYS * 86_400
    for old in root.glob(f"{module}-*"):
        with contextlib.suppress(OSError):  # another process may be deleting the same folder
            if old.stat().st_mtime < limit:
                shutil.rmtree(old, ignore_errors=True)
