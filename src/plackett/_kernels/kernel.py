"""Compiled loops: the `kernel` decorator and the helper that spreads queries over threads.

A kernel is a plain Python function over flat arrays that Numba compiles once per machine. Kernels that walk over
queries take a range ``[lo, hi)`` of query numbers first and the query ``offsets`` second; `over_queries` then runs
the same kernel on several ranges at once, because compiled code releases the interpreter lock.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache, update_wrapper
from itertools import pairwise
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from plackett._base.cached import cached_property
from plackett._kernels.cores import n_threads
from plackett._kernels.folder import cache_folder

F = TypeVar("F", bound=Callable[..., Any])

#: Lets sums be reordered, so that reductions use vector registers. NaN and infinity keep their meaning.
REASSOC = frozenset({"reassoc", "contract", "nsz"})

#: Below this many rows one thread is faster than several; kernels over pairs of rows are worth it sooner.
ROWS_PER_THREAD = 20_000
PAIR_ROWS_PER_THREAD = 2_000

#: Held while a kernel is prepared, so that threads that call it at once share what one of them compiles.
_lock = threading.Lock()


def kernel(function: F | None = None, *, fastmath: bool | frozenset[str] = False, inline: bool = False) -> F | Any:
    """Compile a function of flat arrays with Numba: no interpreter lock, result kept on disk.

    Numba's own cache looks at the file of the function alone: a cached caller would keep the old code of a helper
    that was edited in another file. Here every kernel has a stamp made of its own file, of the stamps of the kernels
    it calls and of the constants it reads, and the stamp names the cache folder. Without a writable folder the
    kernel is compiled again in each process.

    """
    if function is None:
        return lambda f: kernel(f, fastmath=fastmath, inline=inline)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    options["fastmath"] = set(fastmath) if isinstance(fastmath, frozenset) else fastmath
    if inline:
        options["forceinline"] = True
    return Kernel(function, options)


class Kernel:
    """A function that is compiled, or loaded, when it is first called; Numba is not imported before."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.options = options
        self.compiled: Any = None
        self._inner: Any = None

    def __call__(self, *args: Any) -> Any:
        return (self.compiled or self.dispatcher)(*args)

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of the function."""
        if self.compiled is None:
            with _lock:
                if self.compiled is None:
                    self.compiled = self._prepare(self.options)
        return self.compiled

    @property
    def inner(self) -> Any:
        """What Numba makes of the function where another kernel calls it."""
        if self._inner is None:
            with _lock:
                if self._inner is None:
                    self._inner = self._prepare(self.options | self._called())
        return self._inner

    def _called(self) -> dict[str, bool]:
        """Further options where another kernel calls this one.

        Only the process that compiles has machine code of the called kernel alone, and runs it in place of the copy
        that the caller contains. The two round differently where sums may be reordered. Such a kernel is inlined: then
        no call is left, and the first process computes the same bits as later ones.
        """
        return {"no_cpython_wrapper": True} | ({"forceinline": True} if self.reorders_sums else {})

    def _prepare(self, options: dict[str, Any]) -> Any:
        folder = cache_folder(self.function.__module__, self.plackett_stamp)
        return _compile(self.function, options, folder)

    @cached_property
    def plackett_stamp(self) -> str:
        """Hash of the sources that decide the machine code."""
        return _stamp(self.function)

    @cached_property
    def reorders_sums(self) -> bool:
        """Whether sums may be reordered in it or in a kernel that it calls."""
        called = (value for _, value in _globals(self.function) if isinstance(value, Kernel))
        return bool(self.options["fastmath"]) or any(each.reorders_sums for each in called)

    @property
    def _numba_type_(self) -> Any:
        """How Numba sees the kernel inside another one."""
        from numba import typeof

        return typeof(self.inner)

    @property
    def stats(self) -> Any:
        """Hits and misses of the cache."""
        return self.dispatcher.stats


def template(function: F) -> F:
    """Mark text that becomes part of kernels: a loop for `kernel_from`, or what stands in it for a formula."""
    return function


def kernel_from(template: Callable[..., Any], *, inline: bool = False, **helpers: Any) -> Any:
    """A kernel with the text of a template, which calls other kernels by the names given here.

    A loop that many algorithms share is written once, as a plain function that calls a helper that stands for their
    formulas; each algorithm gets a kernel of its own from it. Numba would compile a function passed as an argument, or
    captured by a closure, anew in each process. Such a kernel is cached like one that is written out: helpers are
    globals of the new function, and their stamps are part of its own.
    """
    first, *others = helpers.values()
    name = f"{template.__name__}_{first.__name__}"
    if others:  # kernels that differ in another helper of the same file have the same stamp: their names must differ
        name += f"_{crc32(' '.join(each.__name__ for each in others).encode()):08x}"
    function = FunctionType(template.__code__, {**template.__globals__, **helpers}, name, template.__defaults__)
    function.__module__ = first.__module__  # each loss has a folder of its own in the cache
    function.__qualname__ = name
    function.__doc__ = template.__doc__
    return kernel(function, inline=inline)


def _compile(function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> Any:
    import numba

    from plackett._kernels.cache import KernelCache
    from plackett._kernels.quiet_compiler import QuietCompiler

    compiled = numba.njit(**options, pipeline_class=QuietCompiler)(function)
    if folder is not None:
        name = _file_name(function)
        # private, because Numba's own cache cannot be told where to keep its files
        compiled._cache = KernelCache(folder, f"{name}-inner" if "no_cpython_wrapper" in options else name)
    return compiled


def _file_name(function: Any) -> str:
    name = "".join(c for c in function.__qualname__ if c.isalnum() or c in "._")
    return f"{name}-{function.__code__.co_firstlineno}"


def _stamp(function: Any) -> str:
    """Hash of everything that decides the machine code of a kernel, as far as sources go."""
    digest = hashlib.blake2b(digest_size=10)
    digest.update(_file_digest(function.__code__.co_filename))
    digest.update(function.__code__.co_code)  # of a function typed at a prompt there is no file
    for name, value in _globals(function):
        if hasattr(value, "plackett_stamp"):
            digest.update(value.plackett_stamp.encode())
        elif isinstance(value, ModuleType) and value.__name__.startswith("plackett"):
            digest.update(_file_digest(value.__file__ or ""))
        elif isinstance(value, (int, float, str, bool, tuple)):
            digest.update(f"{name}={value!r}".encode())
        elif isinstance(value, np.ndarray):
            digest.update(name.encode() + value.tobytes())
    return digest.hexdigest()


def _globals(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function reads of its module: names and values."""
    for name in sorted(_names(function.__code__)):
        yield name, function.__globals__.get(name)


def _names(code: Any) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names(constant)
    return names


@cache
def _file_digest(path: str) -> bytes:
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).digest()
    except OSError:
        return path.encode()


# ---------------------------------------------------------------------------------------------------------- threads


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="plackett")


def _after_fork() -> None:
    """Drop the parent's pools: their threads do not exist in the child, and work would wait forever."""
    global _lock
    _pool.cache_clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


#: Parts per thread that the queries are cut into.
_PARTS = 4


def ranges(offsets: np.ndarray, parts: int) -> Iterator[tuple[int, int]]:
    """Split the queries into at most ``parts`` ranges with about the same number of rows."""
    n_queries = offsets.size - 1
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], parts + 1)[1:-1])
    edges = [0, *np.unique(np.clip(cuts, 0, n_queries)).tolist(), n_queries]
    for lo, hi in pairwise(edges):
        if lo < hi:
            yield lo, hi


def over_queries(
    kernel: Callable[..., Any],
    offsets: np.ndarray,
    *args: Any,
    n_jobs: int | None = None,
    rows_per_thread: int = ROWS_PER_THREAD,
) -> None:
    """Run ``kernel(lo, hi, offsets, *args)`` over all queries, split by rows over threads.

    ``rows_per_thread`` is the least amount of work that is worth a thread: less for kernels over pairs of rows.
    The ranges are disjoint and the kernel writes only to rows or entries of its own queries, so the result does not
    depend on the number of threads.
    """
    n_queries = offsets.size - 1
    if n_queries == 0:
        return
    worth = 1 + int(offsets[-1]) // rows_per_thread
    threads = 1 if worth == 1 and n_jobs is None else min(n_threads(n_jobs), worth)  # asking takes microseconds
    if threads == 1:
        kernel(0, n_queries, offsets, *args)
        return
    # more parts than threads: a thread whose core is busy with something else (LightGBM's workers spin) takes fewer
    parts = deque(ranges(offsets, min(_PARTS * threads, worth)))

    def work() -> None:
        while parts:
            try:
                lo, hi = parts.popleft()
            except IndexError:  # another thread took the last one
                return
            kernel(lo, hi, offsets, *args)

    futures = [_pool(threads).submit(work) for _ in range(min(threads, len(parts)) - 1)]
    try:
        work()  # the caller works too: one thread less to wake
    finally:
        parts.clear()
        for future in futures:
            future.result()
