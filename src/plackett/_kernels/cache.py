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
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

_DIGEST = 20


class KernelCache:
    """Machine code of one kernel; a dispatcher of Numba asks it for the code of each signature.

    Numba's own cache first loads all that Numba can compile, which takes 0.3 s, SciPy's linear algebra among it. To run
    compiled code it is enough that memory can be allocated; if the code is not there and must be compiled, Numba loads
    the rest then.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.cache_path = folder
        self.name = name

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The compiled code for these types of arguments; None if it is not there, or damaged."""
        rtsys.initialize(target_context)
        key = self._key(sig, target_context.codegen())
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _digest(content[_DIGEST:]) == content[:_DIGEST]:
            saved_key, parts = pickle.loads(content[_DIGEST:])
            if saved_key == key:
                return CompileResult._rebuild(target_context, *parts)  # private: Numba has no other way back
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def save_overload(self, sig: Any, compiled: CompileResult) -> None:
        """Save compiled code. If the disk is full or read-only, the next process compiles it again."""
        if compiled.library.has_dynamic_globals:  # it has an address of this process in it
            return
        key = self._key(sig, compiled.codegen)
        content = dumps((key, compiled._reduce()))  # private: what _rebuild takes, without this process's addresses
        path = self._path(key)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        try:
            self.cache_path.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(_digest(content) + content)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def flush(self) -> None:
        """Forget everything."""
        for path in self.cache_path.glob(f"{self.name}.*.code*"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _key(self, sig: Any, codegen: Any) -> str:
        """What decides the machine code: kernel, sources, types of arguments, processor, versions."""
        # the name of a named tuple's type leaves out its fields, whose order decides what a kernel reads
        fields = [getattr(argument, "fields", ()) for argument in sig]
        versions = numba.__version__, llvmlite.__version__, sys.version_info[:2]
        return f"{self.cache_path.name} {self.name} {versions} {codegen.magic_tuple()} {sig!r} {fields}"

    def _path(self, key: str) -> Path:
        return self.cache_path / f"{self.name}.{_digest(key.encode()).hex()}.code"


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
