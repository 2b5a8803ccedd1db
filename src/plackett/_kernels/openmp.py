"""How many threads LightGBM uses, and how to end those it leaves waiting."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from plackett._kernels.cores import n_threads

#: Least number of table cells, or of rows times trees, that is worth another thread of LightGBM. Its threads
#: synchronise after every small step, and on a busy machine each synchronisation can cost a time slice.
_CELLS_PER_THREAD = 4_000_000
_VISITS_PER_THREAD = 500_000
_SOFT = 1  # omp_pause_soft: threads end, settings stay


def growing_threads(n_jobs: int | None, n_rows: int, n_features: int) -> int:
    """Threads for growing trees: fewer than `n_threads` where the table is small, unless ``n_jobs`` names a number.

    >>> growing_threads(None, 100, 10), growing_threads(3, 100, 10)
    (1, 3)
    """
    return _worth_it(n_jobs, n_rows * n_features // _CELLS_PER_THREAD)


def scoring_threads(n_jobs: int | None, n_rows: int, n_trees: int) -> int:
    """Threads for scoring rows with trees, by the same rule."""
    return _worth_it(n_jobs, n_rows * n_trees // _VISITS_PER_THREAD)


def _worth_it(n_jobs: int | None, further: int) -> int:
    threads = n_threads(n_jobs)
    return threads if n_jobs is not None and n_jobs > 0 else min(threads, 1 + further)


def dismiss_waiting_threads() -> None:
    """End the OpenMP threads that wait for more work from the calling thread; the next work starts them again.

    After each parallel loop, LightGBM's threads spin for some milliseconds in case there is more. Gradients and
    measures, which run in between, would share the cores with them; without them, gradients take a third less time.
    Ending them takes some 0.1 ms. Does nothing if LightGBM does not use GNU's OpenMP.
    """
    pause = _pause()
    if pause is not None:
        pause(_SOFT)


def _before_fork() -> None:
    """End the waiting threads of every GNU OpenMP in the process: a forked child would wait for threads it lacks."""
    for name in _loaded():
        pause = _pause(name)
        if pause is not None:
            pause(_SOFT)


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_before_fork)


def _loaded() -> list[str]:
    """Files of GNU's OpenMP that are loaded: LightGBM's is the system's, PyTorch and scikit-learn bring their own."""
    try:
        with open("/proc/self/maps", "rb") as file:
            paths = {line.split(maxsplit=5)[-1].rstrip() for line in file if b"libgomp" in line}
    except OSError:
        return ["libgomp.so.1"]
    return sorted(map(os.fsdecode, paths))


_known: dict[str, Callable[[int], int]] = {}


def _pause(name: str = "libgomp.so.1") -> Callable[[int], int] | None:
    if name not in _known:  # asked again while there is none: it may be loaded later
        try:
            library = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)  # the one in use, or none
            _known[name] = library.omp_pause_resource_all
        except (OSError, AttributeError):  # another system's OpenMP, or GNU's from before 2019
            return None
    return _known[name]
