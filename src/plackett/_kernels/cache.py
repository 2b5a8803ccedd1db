"""Where compiled kernels are kept: one checked file per kernel and types of arguments.

Numba keeps an index next to its files of machine code. Two processes that fill the same cache can leave an index that
names the wrong file, and a damaged file ends in a traceback or is run as it is. Here a file is named by what it holds
and begins with its checksum: a file that is damaged or belongs to something else is dropped, and the kernel compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

from plackett._kernels.compiler import FORM, pack_inner, unpack_inner

_DIGEST = 20


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, with files of our own and without the preparations for compiling.

    Before Numba looks into its cache, it loads all that it can compile, which takes 0.3 s, SciPy's linear algebra among
    it. To run compiled code it is enough that memory can be allocated; if the code is not there and must be compiled,
    Numba loads the rest then.
    """

    def __init__(self, function: Any, folder: Path, name: str) -> None:
        super().__init__(function)
        self._cache_file = OverloadFiles(folder, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for these types of arguments; None if it is not there."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class InnerCache(KernelCache):
    """Numba's cache of a kernel that other kernels call: not yet machine code."""

    class _impl_class(CompileResultCacheImpl):
        def reduce(self, cres: Any) -> Any:
            return pack_inner(cres)

        def rebuild(self, target_context: Any, payload: Any) -> Any:
            return unpack_inner(target_context, payload)

    def __init__(self, function: Any, folder: Path, name: str) -> None:
        super().__init__(function, folder, f"{name}-inner")


class OverloadFiles:
    """Machine code of one kernel, a file for each signature; replaces Numba's index and data files."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def load(self, key: Any) -> Any:
        """The data saved under the key; None if there is none, or if it is damaged."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _digest(content[_DIGEST:]) == content[:_DIGEST]:
            saved_key, data = pickle.loads(content[_DIGEST:])
            if saved_key == key:
                return data
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def save(self, key: Any, data: Any) -> None:
        """Save ``data``. If the disk is full or read-only, the next process compiles it again."""
        from numba.core.serialize import dumps

        content = dumps((key, data))
        path = self._path(key)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(_digest(content) + content)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def flush(self) -> None:
        """Forget everything."""
        for path in self._files():
            with contextlib.suppress(OSError):
                path.unlink()

    def _files(self) -> Iterator[Path]:
        return self.folder.glob(f"{self.name}.*.code*")

    def _path(self, key: Any) -> Path:
        # the name of a named tuple's type leaves out its fields, whose order decides what a kernel reads
        fields = [getattr(argument, "fields", ()) for argument in key[0]]
        version = f"{FORM} {numba.__version__} {sys.version_info[:2]} {key!r} {fields}"
        return self.folder / f"{self.name}.{_digest(version.encode()).hex()}.code"


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
